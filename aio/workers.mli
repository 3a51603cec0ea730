(** A few system threads for what no descriptor tells the end of: regular files,
    names of hosts.

    At most {!most} run at once. Each belongs to the domain that needed it; it
    ends when there is nothing left to do, but in the main domain, where it
    waits for more. None delays the end of the program. *)

val most : int

val run : ?drop:('a -> unit) -> (unit -> 'a) -> 'a
(** [run f] is [f ()], called by such a thread.

    - {b Suspends} until [f] has ended.
    - {b Cancelled} while suspended: raises at once. [f] goes on, and what it
      returns is given to [drop].
    - {b Order}: that of the calls.
    - {b Raises} [e] if [f] raised [e], with its backtrace. *)

val run_protected : (unit -> 'a) -> 'a
(** As {!run}, but the calling task is not cancelled before [f] has ended: for
    what ends soon, and must not be lost. *)
