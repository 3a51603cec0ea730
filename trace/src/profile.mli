(** The waiting time of tasks by operation. It has sums over a whole run, which
    take the same room however long the run is. *)

type t

type row = {
  operation : string;
  structure : string;  (** Its name, or [""]. *)
  at : string;
  count : int;
  total_ns : int;
  longest_ns : int;
}

type pauses = {
  pause : Recorder.pause;
  times : int;
  sum_ns : int;  (** Of all domains. *)
  most_ns : int;
}

val create : unit -> t

val add : t -> operation:string -> structure:string -> at:string -> int -> unit
(** A wait that has ended, and its time. If there are more than 10,000
    operations, structures and lines, the others are summed as [others]. *)

val pause : t -> Recorder.pause -> int -> unit
val mark : t -> string -> unit

val waits : t -> row list
(** The rows with the longest sum first. *)

val pauses : t -> pauses list

val marks : t -> (string * int) list
(** The count of each marked text, the most frequent first. If there are more
    than 1,000 texts, the others are counted as [others]. *)

val name_of_pause : Recorder.pause -> string

val lines : t -> string list
(** For people: the first 20 waits, the pauses, the first 10 marks. *)
