(** System threads for what no descriptor tells the end of: regular files, names
    of hosts.

    Of each kind at most {!most} jobs run at once, and of those that have not
    returned after {!patience} seconds more: a file that makes its thread wait,
    for another process say, does not keep others waiting. There are at most
    {!threads} threads; then what comes next waits for one of these jobs to end.
    They end when there is nothing left to do, but in the main domain, where
    {!most} wait for more. None delays the end of the program. *)

val most : int
val patience : float
val threads : int

type kind = Files | Names

val run : ?drop:('a -> unit) -> kind -> (unit -> 'a) -> 'a
(** [run kind f] is [f ()], called by such a thread.

    - {b Suspends} until [f] has ended.
    - {b Cancelled} while suspended: raises at once. [f], if it has begun, goes
      on, and what it returns is given to [drop].
    - {b Order}: that of the calls.
    - {b Raises} [e] if [f] raised [e], with its backtrace. *)

val run_protected : kind -> (unit -> 'a) -> 'a
(** As {!run}, but once [f] has begun the calling task is not cancelled: for
    what ends soon, and must not be lost. *)

val running : unit -> int
(** How many threads there are for files. For tests. *)
