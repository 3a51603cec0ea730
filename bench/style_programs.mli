(** The programs of "Light Weight Concurrency in OCaml", for measurements. *)

open Lwc

type size = { threads : int; operations : int }

type program = { written : (module Program.WRITTEN); size : int -> size }
(** A program, and the size of its problem [n]. *)

val kpn : program
(** An operation is a number that it finds. *)

val sieve : program
(** An operation is a message. *)

val sorter : program
(** An operation is a comparator, which is a thread. *)

val comparators : int -> int
(** The number of comparators of a sort of so many numbers. *)

val numbers : comparators:int -> int
(** The greatest number of numbers that so many comparators can sort. *)

val time_of_run : program -> Style.t -> int -> float
(** The time in nanoseconds from before the first thread is spawned until the
    last one has ended, for a problem of this size.

    @raise Failure if the result is wrong. *)

val time_of_setup : program -> Style.t -> int -> float
(** The time until all threads are spawned. They do not start. *)

val whole_runs :
  (program -> Style.t -> int -> float) ->
  program ->
  Style.t ->
  size:int ->
  int ->
  float
(** [whole_runs time program style ~size n] is the time of [n] operations, in
    whole runs with problems of this size. *)

val run : (module Program.S) -> int -> unit
val set_up : (module Program.S) -> int -> unit

val peak :
  program -> ((module Program.S) -> int -> unit) -> Style.t -> int -> float
(** The number of resident bytes by which the process has grown at its peak, if
    it does the work ({!run} or {!set_up}) in a style, with a problem of this
    size. Everything that threads need anyway, and a minor heap, are there
    before. *)

val resident :
  program ->
  ((module Program.S) -> int -> unit) ->
  largest:(int -> int) ->
  Style.t ->
  Case.sample
(** The bytes of one thread, by {!peak}. [largest things] is the size of the
    problem. *)
