(** Tests whether a scheduler keeps its side of the contract of
    {!Concord.Tools.Suspend}, and has the optional features it doesn't declare
    as missing.

    {b Stability}: experimental, because a new clause or check may need a longer
    description.

    Describe your scheduler in a module of type {!HOST}. Then {!main} is the
    whole program. For example, this tests a scheduler [Rounds]:

    {@ocaml skip[
    module Host = struct
      include Rounds (* with a type [t] of schedulers, and [task] *)

      let name = "Rounds"

      let run f =
        let result = ref None in
        Rounds.run (fun t -> result := Some (f t));
        Option.get !result

      let spawn = fork
      let yield = Concord.Tasks.yield
      let cancel = Some cancel
      let is_cancellation = function Cancelled -> true | _ -> false
      let not_offered = []
    end

    let () = Concord_testkit.Host.main (module Host)
    ]}

    {{!/concord/schedulers}For authors of schedulers} has the scheduler, and the
    report. *)

(** {1 What is tested} *)

module type HOST = Host_signature.HOST

(** {1 The checks}

    - {b reach}, {b turns}. While a task waits, other tasks run, and each ready
      task runs. If one of these two is broken, the report says why, and all
      other clauses are skipped, because they would hang.
    - {b H1} to {b H4}. The clauses of {!Concord.Tools.Suspend} for a host.
    - {b S1} to {b S5}. Its clauses for structures, on this host, because a
      structure can keep them only if its tasks' host lets it.
    - {b backtraces}. An exception raised by [block] or the first task keeps its
      backtrace.
    - {b inside}, {b nested}, {b around}, {b foreign}. Loops run inside one
      another. [inside] calls [run] in a task of another host, which may be
      cancelled. [nested] calls [run] in a task of this host. [around] runs a
      loop that handles [Suspend] in one of this host's tasks. [foreign] runs a
      loop that doesn't, for example Eio's or a Domainslib pool's.
    - {b domains}. Two loops run, each on a domain of its own.
    - {b protect}. {!Concord.Tasks.protect} works, even inside another one, in a
      task that was cancelled before, and for one task at a time.
    - {b queued}. A task cancelled while it is ready, or before it begins,
      raises in its next wait.
    - {b fair}. Tasks that are always ready let other tasks run.
    - {b failures}. An exception of a task is not forgotten, even if the first
      task has ended before.
    - {b end}. The remains of a finished loop do no harm.
    - {b stack}. The stack doesn't grow with each suspension.
    - {b idle}. While all tasks wait, the loop sleeps.
    - {b signals}. A signal handler may call a resumer while another one runs.

    If the host has no cancellation, cases with a cancellation are left out. The
    clauses "reach" to "S5" have to be kept. A host need not offer the others,
    but it has to declare this ({!HOST.not_offered}), because otherwise they
    count as broken. For example, declare "inside" if [run] blocks its caller's
    thread.

    The checks don't cover raising signal handlers, memory on the heap, speed,
    and scopes. A race may exist even if the checks don't find it, so run them
    several times, with other seeds. *)

type t
(** A declared host. *)

val declare : (module HOST) -> t
(** [declare (module My_host)] declares a host.

    Call it when the program begins, for all hosts it checks, always in the same
    order. It can't be used in a toplevel.

    For each clause a process is started to execute the program again, with the
    same arguments, up to this call. In this process the call doesn't return.
    Don't put code before it that must not run again. In this process, output
    from before the call goes to the standard error, and the standard input
    can't be read.

    - {b Raises} [Invalid_argument] after {!check}, or if {!HOST.not_offered}
      has a name that isn't an optional clause's. *)

val check : ?seed:int -> ?seconds:float -> ?only:string list -> t -> Report.t
(** [check host] runs the checks, or those of the clauses [only].

    They take some seconds. If the host hangs, they take up to [2 *. seconds]
    more. The first clause to hang takes [seconds], and the others take a tenth
    of it, but at least one second. Clauses left after [2 *. seconds] are not
    offered. If "reach" or "turns" is among them and is broken, the clauses
    after it are not offered either.

    In the process of its clause the host may hang, raise, print, or end the
    process. It may have started domains and threads when the program was
    initialised. The process is killed if nothing happens in it for [seconds],
    by default 10, or for the shorter time after a hang.

    [seed] determines how long the partners of a race wait. The same seed begins
    the same race, which may still end otherwise. By default it is the
    environment variable [CONCORD_SEED], or the time.

    - {b Suspends} nothing, but blocks the calling thread.
    - {b Signals}. The checks use the signal [SIGUSR1] in their processes.
    - {b Raises} [Invalid_argument] if there is no such clause, if [seconds] is
      not positive, or if [CONCORD_SEED] is not a number. *)

val main :
  ?seed:int -> ?seconds:float -> ?only:string list -> (module HOST) -> unit
(** [main (module My_host)] is {!declare}, then {!check}.

    It prints each line of the report as soon as it is known, and then ends the
    program. The exit code is 0 if no clause is broken, and otherwise 1. If
    {!declare} or {!check} raises because of an invalid argument, the program
    prints why, and its exit code is 2.

    Without [only], the arguments of the program, if there are any, name the
    clauses to check. For example, run [dune exec ./tested.exe H3 S2]. *)

(** {1 Features of a host} *)

type abilities = {
  composes : bool;  (** No clause is broken. *)
  cancels : bool;
  protects : bool;
  inside : bool;
      (** Its loop, run in another host's task, suspends only this task. *)
  around : bool;  (** Any other loop may run in its tasks. *)
  domains : bool;  (** Its loop may run on several domains at once. *)
}

val abilities : Report.t -> abilities
(** [abilities report] are the features found by a report on all clauses. A
    feature declared as not offered is [false].

    - {b Raises} [Invalid_argument] if the report has only some of the clauses.
*)
