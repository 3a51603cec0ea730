(** System threads for work whose end no descriptor reports, on regular files
    and names of hosts.

    Of each kind at most {!most} jobs run at once. If they have not returned
    after {!patience} seconds, more may start. So a file that makes its thread
    wait, for example for another process, does not keep other jobs waiting.
    There are at most {!threads} threads. Then the next job waits for one of
    these jobs to end. Threads end when there is no work left, except for
    {!most} in the main domain, which wait for more. None delays the end of the
    program. *)

val most : int
val patience : float
val threads : int

type kind = Files | Names

val run : ?drop:('a -> unit) -> kind -> (unit -> 'a) -> 'a
(** [run kind f] is [f ()], called by such a thread.

    - {b Suspends} until [f] has ended.
    - {b Cancelled} while suspended, it raises at once. If [f] has begun, it
      continues, and its result is given to [drop].
    - {b Order} is that of the calls.
    - {b Raises} [e] if [f] raised [e], with its backtrace. *)

val run_protected : kind -> (unit -> 'a) -> 'a
(** {!run}, except that the calling task waits for its end by
    {!Uncancelled.await} once [f] has begun. Use it for work that ends soon, and
    must not be lost. *)

val running : unit -> int
(** The number of threads for files. For tests. *)
