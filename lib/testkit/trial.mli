(** Runs checks that may hang, or end the program. For the suites of this
    library only. *)

type case = {
  title : string;  (** Told when the case is what fails. *)
  run : unit -> unit;  (** Raises if it fails. *)
}

val case : string -> (unit -> unit) -> case

exception Failed of string
(** Raised by {!fail}: what was seen. *)

exception Not_offered of string
(** Raised by a case: what was tested has not what the case is about. The clause
    is not offered if none of its cases is. *)

val fail : ('a, unit, string, 'b) format4 -> 'a
(** Raises what makes a case fail with this message. *)

val equal : ('a -> string) -> string -> 'a -> 'a -> unit
(** [equal show what expected actual] fails unless the two are equal. *)

val int : string -> int -> int -> unit
(** {!equal} of integers. *)

val yes : string -> bool -> unit
(** [yes what condition] fails with [what] unless [condition]. *)

val abort : exn -> 'a
(** The current case fails with this exception, and all ends: for what runs
    beside the code of the case, which may wait for it. *)

val run : seconds:float -> case list -> Report.verdict
(** Runs the cases one after the other, in a process that is forked, until one
    fails. Cases that have not ended after [seconds] together, and one that ends
    its process, fail too; the process is killed then.

    - {b Raises} [Invalid_argument] if the program has, or had, a second domain:
      OCaml has no fork then. *)

(** {2 The two ends of it} *)

val perform_and_exit : case list -> out_channel -> 'a
(** Runs the cases, writes to the channel what becomes of them, and ends the
    process. *)

val end_of : seconds:float -> input:Unix.file_descr -> int -> Report.verdict
(** The verdict of a child process that calls {!perform_and_exit}. [input] is
    where its channel is read; it is closed. *)
