(** Runs checks that may hang, or end the program. For the suites of this
    library only. *)

type case = {
  title : string;  (** The title in the report if the case fails. *)
  run : unit -> unit;  (** Raises if it fails. *)
}

val case : string -> (unit -> unit) -> case

exception Failed of string
(** {!fail} raises [Failed] with the fault that was seen. *)

exception Not_offered of string
(** A case raises [Not_offered] if the tested object lacks the feature that the
    case is about. The clause is not offered if none of its cases is. *)

val fail : ('a, unit, string, 'b) format4 -> 'a
(** Makes the case fail with this message. *)

val equal : ('a -> string) -> string -> 'a -> 'a -> unit
(** [equal show what expected actual] fails unless the two are equal. *)

val int : string -> int -> int -> unit
(** {!equal} of integers. *)

val yes : string -> bool -> unit
(** [yes what condition] fails with [what] unless [condition]. *)

val abort : exn -> 'a
(** The current case fails with this exception, and everything ends. Use it for
    code that runs beside the code of the case, which may wait for it. *)

val alive : unit -> unit
(** Reports progress, because a round of a case is over. Any thread may call it.
*)

val seed : int option -> int
(** This seed. If it is [None], that of [CONCORD_SEED] in the environment, or
    else a new one.

    - {b Raises} [Invalid_argument] if [CONCORD_SEED] is not a number. *)

val check_seconds : string -> float -> unit
(** [check_seconds "f" s] checks the argument [s] of [f].

    - {b Raises} [Invalid_argument] unless [s] is positive. *)

val run : seconds:float -> case list -> Report.verdict
(** Runs the cases one after the other, in a process that is forked, until one
    fails. If nothing happens in a case for [seconds] ({!alive}), or a case ends
    its process, it fails too, and the process is killed.

    - {b Raises} [Invalid_argument] if the program has, or had, a second domain,
      or if the system is Windows, because OCaml cannot fork then. *)

val needs_signals : unit -> unit
(** Call it at the beginning of a case that needs signals.

    - {b Raises} [Not_offered] on Windows. *)

(** {2 The two ends of the pipe} *)

val perform_and_exit : case list -> out_channel -> 'a
(** Runs the cases, writes their outcomes to the channel, and ends the process.
*)

type ending = {
  verdict : Report.verdict;
  hangs : bool;  (** [true] if the process was killed because it hung. *)
}

val end_of : seconds:float -> input:Unix.file_descr -> int -> ending
(** The end of a child process that calls {!perform_and_exit}. [input] is where
    its channel is read; it is closed. The process is killed as by {!run}. *)
