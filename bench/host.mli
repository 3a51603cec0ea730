(** The hosts that run the tasks of a row, and the shapes of most cases.

    Every shape counts the operations, and fails if the count is wrong. *)

type t = { run : 'a. (((unit -> unit) -> unit) -> 'a) -> 'a }
(** [host.run f] calls [f fork] in a task. It returns after that task and all
    tasks that it has forked have ended. *)

val fifo : t
val eio : t

val thread : t
(** System threads of the domain, without its first thread. *)

val domain : t
(** No scheduler, for the shapes with one task on each domain. *)

type shape = produce:(int -> unit) -> consume:(int -> int) -> int -> float
(** A producer and a consumer. [produce n] sends the numbers from 1 to [n], and
    [consume n] is the sum of [n] numbers that it has received. The result is
    the time of [n] messages in nanoseconds. *)

val serial : t -> shape
(** Two tasks on one domain. *)

val parallel : t -> shape
(** One task on each of two domains, which have their own schedulers. *)

val serial_lwt :
  produce:(int -> unit Lwt.t) -> consume:(int -> int Lwt.t) -> int -> float
(** {!serial} in Lwt. *)

val alone : t -> (int -> unit) -> int -> float
(** [alone host work n] runs [work n] in the only task. *)

val alone_lwt : (unit -> unit Lwt.t) -> int -> float
(** [alone_lwt f n] calls [f] [n] times, one after the other, in Lwt. *)

val meeting : int
(** {!parallel} and {!both} begin with this number of messages, or of operations
    on each side, before they read the clock. *)

val both : t -> (int -> unit) -> int -> float
(** [both host work n] runs [work (n / 2)] on each of two domains at the same
    time. *)

val crew :
  t ->
  tasks:int ->
  hold:(unit -> unit) ->
  free:(unit -> unit) ->
  ((unit -> bool) -> unit) ->
  int ->
  float
(** [crew host ~tasks ~hold ~free work n] runs [work another] in each of [tasks]
    tasks on one domain. [work] does operations, and calls [another ()] after
    each, until that is [false]. Then [n] operations have been done, and some
    before them to warm up. The first task calls [hold] before the others begin,
    and [free] afterwards. The tasks share plain counters. This is safe even for
    {!thread}s, because a thread is not switched between reading and writing a
    counter. *)

val crew_lwt :
  tasks:int ->
  hold:(unit -> unit Lwt.t) ->
  free:(unit -> unit) ->
  ((unit -> bool) -> unit Lwt.t) ->
  int ->
  float
(** {!crew} in Lwt. *)

val growth : t -> wait:(unit -> unit) -> wake:(unit -> unit) -> int -> float
(** The number of bytes by which the process grows while so many tasks
    [wait ()]. All tasks must wait, and end after [wake ()], because otherwise
    the figure would be wrong. *)

val lwt_times : int -> (unit -> unit Lwt.t) -> unit Lwt.t
(** [lwt_times n f] calls [f] [n] times, one after the other, and allocates no
    closure for each call. *)

val check : string -> int -> int -> unit
(** [check what expected actual] fails if they differ. *)

val check_sum : int -> int -> unit
(** [check_sum n sum] fails if [sum] is not the sum of the numbers from 1 to
    [n]. *)
