(** Finds the tasks that wait in the structures of another process. *)

type target = {
  operation : string;
  structure : int;  (** Its address. *)
  name : string option;
}

type wait = {
  targets : target list;  (** A choice has several, in no special order. *)
  lines : Frame_table.line list;  (** The innermost first. *)
}

type found = {
  waits : wait list;
  unseen : int;
      (** So many frames were not looked at, because the process would have
          stood still for too long. *)
}

val find : int -> found
(** [find pid] first looks for stack frames while the process runs. It then
    stops the process for some milliseconds, 3 seconds at the most, to see which
    of these are frames of tasks that wait.

    - {b Raises} [Refused.Refused] if the process can't be read, or isn't a
      program whose memory this command understands. *)
