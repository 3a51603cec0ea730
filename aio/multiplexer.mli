(** What waits for many descriptors at a time.

    {!Ring} and {!Poll_set} make one, each in one of the system's ways. *)

module By_fd : Map.S with type key = Unix.file_descr

type ready = {
  read : bool;  (** There is something to read, or the end, or an error. *)
  write : bool;
  closed : bool;  (** It is no open descriptor. *)
}
(** What became of a descriptor. *)

val over : ready
(** It has failed: whoever uses it will see. *)

val closed : ready

val ready_of_bits : int -> ready
(** Of those that [poll(2)] has, and [io_uring] as well. *)

type t = {
  set : Unix.file_descr -> read:bool -> write:bool -> unit;
      (** Says for what it is waited from now on. A descriptor that was found
          must be set again, even if that does not change. *)
  wait : block:bool -> (Unix.file_descr * ready) list;
      (** Those that are ready. With [~block:true] it waits for one, but may
          return too early. After an exception, one of a signal handler say, all
          must be set again: to nothing, and then to what is waited for. *)
  is_settled : unit -> bool;
      (** The system holds no file that is not waited for any more. *)
  settle : unit -> unit;  (** Waits until that is so, which takes a moment. *)
}
