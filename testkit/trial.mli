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

val alive : unit -> unit
(** Something went on: a round of a case is over. Any thread may say so. *)

val seed : int option -> int
(** This one; else [CONCORD_SEED] of the environment, else a new one.
    - {b Raises} [Invalid_argument] if [CONCORD_SEED] is no number. *)

val check_seconds : string -> float -> unit
(** [check_seconds "f" s]
    - {b Raises} [Invalid_argument] unless [s] is positive. *)

val run : seconds:float -> case list -> Report.verdict
(** Runs the cases one after the other, in a process that is forked, until one
    fails. A case in which nothing goes on for [seconds] ({!alive}), and one
    that ends its process, fail too; the process is killed then.

    - {b Raises} [Invalid_argument] if the program has, or had, a second domain,
      or the system is Windows: OCaml has no fork then. *)

val needs_signals : unit -> unit
(** For the beginning of a case.
    - {b Raises} [Not_offered] on Windows. *)

(** {2 The two ends of it} *)

val perform_and_exit : case list -> out_channel -> 'a
(** Runs the cases, writes to the channel what becomes of them, and ends the
    process. *)

val end_of : seconds:float -> input:Unix.file_descr -> int -> Report.verdict
(** The verdict of a child process that calls {!perform_and_exit}. [input] is
    where its channel is read; it is closed. The process is killed as by {!run}.
*)
