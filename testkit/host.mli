(** Does a scheduler keep its side of the contract of {!Concord.Tools.Suspend},
    and what else can it do?

    {b Stability}: experimental, may change in any release.

    Say what the scheduler is, in a module of type {!HOST}; then {!main} is the
    whole program. *)

(** {1 What is tested} *)

module type HOST = Host_signature.HOST

(** {1 The checks}

    - {b reach}, {b turns}: a task that waits lets other tasks run, and each
      task that is ready runs. If one of these two is broken, the report says
      why, and all other clauses are skipped, because they would hang.
    - {b H1} to {b H4}: what {!Concord.Tools.Suspend} says of a host.
    - {b S1} to {b S5}: what it says of structures, on this host: a structure
      keeps them only if its tasks' host lets it.
    - {b backtraces}: those of what [block], or the first task, raises.
    - {b inside}, {b around}, {b foreign}: [run] in a task of another host; a
      loop that handles [Suspend] in a task of this host; a loop that does not,
      as Eio's or that of a Domainslib pool.
    - {b domains}: two loops, each on a domain of its own.
    - {b protect}: {!Concord.Tasks.protect}, also one in another.
    - {b fair}: tasks that are always ready leave others their turn.
    - {b failures}: what a task raises is not forgotten, even if the first task
      has ended before.
    - {b end}: what is left of a loop that has ended does no harm.

    Cases that need cancellation are left out if the host has none. Where
    something is no fault but an ability that the host has not, the line says
    that it is not offered: [run] blocks the thread of the task that calls it,
    for example.

    What is not tested: signal handlers that raise, memory, speed, and scopes. A
    race that is not seen may be there all the same: run the checks several
    times, with other seeds. *)

type t
(** A host that was declared. *)

val declare : (module HOST) -> t
(** [declare (module My_host)] is to be called when the program begins, for all
    hosts that it checks, always in the same order. For each clause a process is
    started that executes the program anew, with the same arguments, up to this
    call; there it does not return. So let nothing come before it that is not to
    be done again. What is printed before goes to the standard error there, and
    the standard input cannot be read.

    It cannot be used in a toplevel.

    - {b Raises} [Invalid_argument] after {!check}. *)

val check : ?seed:int -> ?seconds:float -> ?only:string list -> t -> Report.t
(** [check host] runs the checks, or those of the clauses [only]. They take some
    seconds; if the host hangs, up to [seconds] more for each clause. If "reach"
    or "turns" is among them and is broken, the clauses after it are not
    offered.

    In the process of its clause the host may do what it likes: hang, raise,
    print, or end the process. It may have started domains and threads when the
    program was initialised. The process is killed if nothing goes on in it for
    [seconds], by default 10. [seed] determines how long the partners of a race
    wait: the same seed begins the same race, which may still end otherwise. By
    default it is the environment variable [CONCORD_SEED], or the time.

    It blocks the calling thread. The checks use the signal [SIGUSR1] in their
    processes.

    - {b Raises} [Invalid_argument] if there is no such clause, if [seconds] is
      not positive, or if [CONCORD_SEED] is no number. *)

val main :
  ?seed:int -> ?seconds:float -> ?only:string list -> (module HOST) -> unit
(** {!declare}, then {!check}, which prints each line of the report as soon as
    it is known; then the program ends: with code 0 if no clause is broken, else
    with 1. Without [only], the arguments of the program, if there are any, name
    the clauses to check, as in [dune exec ./tested.exe H3 S2]. Where {!check}
    raises, the program ends with code 2, and says why.

    - {b Raises} [Invalid_argument] after {!check}. *)

(** {1 What a host can do} *)

type abilities = {
  composes : bool;  (** No clause is broken. *)
  cancels : bool;
  protects : bool;
  inside : bool;
      (** Its loop, run in a task of another host, suspends that task only. *)
  around : bool;  (** Any other loop may run in its tasks. *)
  domains : bool;  (** Its loop may run on several domains at once. *)
}

val abilities : Report.t -> abilities
(** What a report on all clauses says of them.
    - {b Raises} [Invalid_argument] if the report has only some of the clauses.
*)
