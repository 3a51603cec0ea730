(** What runs the tasks of a row, and the shapes that most cases have.

    Every shape counts what was done, and fails if it is not what was asked for.
*)

type t = { run : 'a. (((unit -> unit) -> unit) -> 'a) -> 'a }
(** [host.run f] is [f fork] in a task, after that task and those that it forked
    have ended. *)

val fifo : t
val eio : t

val thread : t
(** System threads of the domain, none of which is its first one. *)

val domain : t
(** No scheduler: for the shapes with one task on each domain. *)

type shape = produce:(int -> unit) -> consume:(int -> int) -> int -> float
(** A producer and a consumer. [produce n] sends the numbers from 1 to [n], and
    [consume n] is the sum of [n] numbers that it received. The result is the
    nanoseconds that [n] messages took. *)

val serial : t -> shape
(** Two tasks on one domain. *)

val parallel : t -> shape
(** One task on each of two domains, in a run of its own. *)

val serial_lwt :
  produce:(int -> unit Lwt.t) -> consume:(int -> int Lwt.t) -> int -> float
(** {!serial} in Lwt. *)

val alone : t -> (int -> unit) -> int -> float
(** [alone host work n] runs [work n] in the only task. *)

val meeting : int
(** With so many messages, or operations on each side, {!parallel} and {!both}
    begin, before they read the clock. *)

val both : t -> (int -> unit) -> int -> float
(** [both host work n] runs [work (n / 2)] on each of two domains, at the same
    time. *)

val crew :
  t ->
  tasks:int ->
  hold:(unit -> unit) ->
  free:(unit -> unit) ->
  ((unit -> bool) -> unit) ->
  int ->
  float
(** [crew host ~tasks ~hold ~free work n]: each of [tasks] tasks on one domain
    runs [work another], which does operations and calls [another ()] in each,
    until that is [false]: then [n] were done, and some to warm up. The first
    task calls [hold] before the others begin, and [free] after. They share
    plain counters: {!thread}s too, as none of them is switched away between
    reading and writing one. *)

val crew_lwt :
  tasks:int ->
  hold:(unit -> unit Lwt.t) ->
  free:(unit -> unit) ->
  ((unit -> bool) -> unit Lwt.t) ->
  int ->
  float
(** {!crew} in Lwt. *)

val growth : t -> wait:(unit -> unit) -> wake:(unit -> unit) -> int -> float
(** By how many bytes the process grows while so many tasks [wait ()]. All must
    have waited, and end after [wake ()]: or the figure would not be theirs. *)

val lwt_times : int -> (unit -> unit Lwt.t) -> unit Lwt.t
(** [lwt_times n f] calls [f] so many times, one after the other, and allocates
    no closure for each. *)

val check : string -> int -> int -> unit
(** [check what expected actual] fails if they differ. *)

val check_sum : int -> int -> unit
(** [check_sum n sum] fails if [sum] is not that of the numbers from 1 to [n].
*)
