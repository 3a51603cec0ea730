(** The programs of "Light Weight Concurrency in OCaml", to be measured. *)

open Lwc

type size = { threads : int; operations : int }

type program = { written : (module Program.WRITTEN); size : int -> size }
(** A program, and what its problem of size [n] takes. *)

val kpn : program
(** An operation is a number that it finds. *)

val sieve : program
(** An operation is a message. *)

val sorter : program
(** An operation is a comparator, which is a thread. *)

val comparators : int -> int
(** Of a sort of so many numbers. *)

val numbers : comparators:int -> int
(** So many can be sorted by at most so many. *)

val time_of_run : program -> Style.t -> int -> float
(** The nanoseconds from before the first thread is spawned until the last has
    ended, for a problem of that size.
    @raise Failure if the result is wrong. *)

val time_of_setup : program -> Style.t -> int -> float
(** Those until all are spawned; they do not start. *)

val whole_runs :
  (program -> Style.t -> int -> float) ->
  program ->
  Style.t ->
  size:int ->
  int ->
  float
(** [whole_runs time program style ~size n] is the time of [n] operations, in
    whole runs with problems of that size. *)

val run : (module Program.S) -> int -> unit
val set_up : (module Program.S) -> int -> unit

val peak :
  program -> ((module Program.S) -> int -> unit) -> Style.t -> int -> float
(** By how many resident bytes the process has grown when it was largest, if it
    does that work, {!run} or {!set_up}, in a style with a problem of that size.
    Whatever is there to have threads at all, and a minor heap, is there before.
*)

val resident :
  program ->
  ((module Program.S) -> int -> unit) ->
  largest:(int -> int) ->
  Style.t ->
  Case.sample
(** The bytes of one thread, by {!peak}; [largest things] is the size of the
    problem. *)
