(** A scheduler whose order you choose. Its tasks run first come first served,
    the latest first, by priorities, by deadlines, or in an order of your own.

    {b Stability}: experimental, because few programs have used it.

    If some tasks are more urgent than others, [Concord_fifo] can't help,
    because all of its tasks take turns. Here, a policy chooses the next task
    whenever the running task waits:

    {[
      # open Concord
      # let say = print_endline
      val say : string -> unit = <fun>
      # Concord_policies.Levels.run @@ fun () ->
        Scope.run @@ fun scope ->
        let fork priority f =
          Concord_policies.Levels.with_priority priority @@ fun () ->
          Scope.fork scope f
        in
        fork 2 (fun () -> say "a report");
        fork 1 (fun () -> say "a request");
        fork 1 (fun () -> say "another request")
      a request
      another request
      a report
      - : unit = ()
    ]}

    All tasks of a scheduler run on one thread. Fork them by {!Concord.Scope}
    and {!Concord.Tasks}. They wait in Concord's structures, with tasks of any
    other scheduler, and are cancelled as {!Concord.Scope} and {!Concord.Tasks}
    say. A forked task is ready, and the forking task continues.

    While tasks are always ready, the other tasks of the host, in which the
    scheduler runs, run every 10 ms.

    {{!/concord/policies}Which scheduler for which work} has figures.

    A policy has two limits. First, a task runs until it waits or yields, so no
    policy interrupts a computing task. Second, no lock knows about priorities.
    While an urgent task waits for a lock, the task holding the lock may be
    behind others. *)

(** Policies, each of which chooses among ready tasks. You need them only to
    make another policy. {!Make} makes a scheduler of a policy.

    {[
      # let open Concord_policies.Policy in
        let ready = Lifo.create () in
        List.iter (Lifo.add ready () Forked) [ "a"; "b" ];
        Lifo.take ready
      - : string option = Some "b"
    ]} *)
module Policy : sig
  type reason = Policy.reason =
    | Forked  (** The task has not begun. *)
    | Resumed  (** The operation it waited for has completed. *)
    | Yielded
        (** It lets other tasks run first, or another thread resumed it while it
            was about to wait. *)

  (** The signature of a policy, which chooses among the ready tasks. It need
      not be safe for several threads. Its functions must not raise or suspend.
  *)
  module type S = sig
    val name : string
    (** The name, for reports and messages. *)

    type priority
    (** The data by which the policy orders tasks. *)

    val default : priority
    (** The priority of a task without one. *)

    type 'a t
    (** The ready tasks of one run. *)

    val create : unit -> 'a t
    (** [create ()] has no ready tasks. *)

    val add : 'a t -> priority -> reason -> 'a -> unit
    (** [add t priority reason task] adds a task that has become ready, for this
        reason. If the task has [Yielded], put it behind others, because this is
        the purpose of {!Concord.Tasks.yield}. *)

    val take : 'a t -> 'a option
    (** [take t] removes the task to run next. It is [None] only if there is
        none. *)

    val is_empty : 'a t -> bool
    (** [is_empty t] is [true] if there are no ready tasks. *)
  end

  module Fifo : S with type priority = unit
  (** The policy of {!Concord_policies.Fifo}. *)

  module Lifo : S with type priority = unit
  (** The policy of {!Concord_policies.Lifo}. *)

  module Levels : S with type priority = int
  (** The policy of {!Concord_policies.Levels}. *)

  module Deadline : S with type priority = float
  (** The policy of {!Concord_policies.Deadline}. A task with the priority [nan]
      comes last. *)
end

(** A scheduler. *)
module type S = sig
  type priority

  val run : ?priority:priority -> (unit -> 'a) -> 'a
  (** [run main] calls [main ()] in a task, and returns or raises its outcome
      after all tasks have ended.

      [priority] belongs to the first task, and is the policy's default if
      absent.

      Each run has its own tasks. You can call [run] inside a task of another
      scheduler, or of this one.

      - {b Suspends} the calling task, whatever its host, while no task is
        ready. While a task is ready, the host's other tasks don't run.
      - {b Cancelled} while suspended, it cancels its tasks. When they have
        ended, it raises the host's exception.
      - {b Signal handlers}. If a handler raises, all tasks are cancelled, and
        [run] raises the exception when they have ended. If it raises while the
        scheduler handles an effect of a task, this task is not unwound.
      - {b Raises} {!Concord.Tools.Suspend.Never_resumed} if nothing is left to
        resume a task, after all tasks have been cancelled. *)

  val with_priority : priority -> (unit -> 'a) -> 'a
  (** [with_priority p f] is [f ()], with [p] as the priority of the calling
      task until [f] ends.

      Tasks forked meanwhile inherit [p] for their whole life. The priority
      counts from the next time when the task becomes ready, because the calling
      task continues at once.

      - {b Raises} [Invalid_argument] if the caller is not a task of this
        scheduler. *)
end

exception Cancelled
(** A cancelled task gets [Cancelled] where it waits. *)

(** {1 The policies} *)

module Fifo : S with type priority = unit
(** The task that became ready first runs first. This is fair, because each
    ready task runs in its turn. [Concord_fifo] has the same order, and is
    faster. O(1).

    {[
      # Concord_policies.Fifo.run @@ fun () ->
        Scope.run @@ fun scope ->
        List.iter (fun name -> Scope.fork scope (fun () -> say name)) [ "a"; "b" ]
      a
      b
      - : unit = ()
    ]} *)

module Lifo : S with type priority = unit
(** The task that became ready last runs first, whether it was forked or
    resumed. Tasks come last after they have yielded, in their order. A program
    forking a tree of tasks therefore goes through the tree in depth, and keeps
    few tasks alive. This is not fair, because a task waits as long as others
    keep becoming ready. O(1).

    {[
      # Concord_policies.Lifo.run @@ fun () ->
        Scope.run @@ fun scope ->
        List.iter (fun name -> Scope.fork scope (fun () -> say name)) [ "a"; "b" ]
      b
      a
      - : unit = ()
    ]} *)

module Levels : S with type priority = int
(** The task with the lowest number runs first. Among equals, it is the task
    that became ready first. The default is 0. This is not fair, because a task
    waits as long as tasks of lower numbers keep becoming ready. O(log n) for
    [n] numbers in use.

    {[
      # Concord_policies.Levels.run @@ fun () ->
        Scope.run @@ fun scope ->
        let fork (name, level) =
          Concord_policies.Levels.with_priority level @@ fun () ->
          Scope.fork scope (fun () -> say name)
        in
        List.iter fork [ ("later", 2); ("first", 0); ("soon", 1) ]
      first
      soon
      later
      - : unit = ()
    ]} *)

module Deadline : S with type priority = float
(** The task with the earliest deadline runs first. Among equals, it is the task
    that became ready first. Deadlines are times of any clock, the same for all,
    for example [Unix.gettimeofday]. The default is [infinity]. Nothing happens
    when a deadline is over, so use {!Concord.Tasks.with_timeout} to end a task.
    A task whose deadline stays the same for its whole life runs in the end.
    O(log n) for [n] deadlines of ready tasks. [run] and [with_priority] raise
    [Invalid_argument] if the deadline is [nan].

    {[
      # Concord_policies.Deadline.run @@ fun () ->
        Scope.run @@ fun scope ->
        let fork (name, time) =
          Concord_policies.Deadline.with_priority time @@ fun () ->
          Scope.fork scope (fun () -> say name)
        in
        List.iter fork [ ("at 9:30", 9.5); ("at 8:00", 8.) ]
      at 8:00
      at 9:30
      - : unit = ()
    ]} *)

(** {1 A policy of your own} *)

(** [Make (P)] is a scheduler with the policy [P]. In this example the task with
    the fewest bytes left to send runs next.

    {[
      # module Shortest = struct
          let name = "Shortest"
          type priority = int
          let default = max_int
          type 'a t = (int * 'a) list ref
          let create () = ref []
          let is_empty t = List.is_empty !t
          let add t bytes _ task =
            let shorter (a, _) (b, _) = Int.compare a b in
            t := List.merge shorter !t [ (bytes, task) ]
          let take t =
            match !t with
            | [] -> None
            | (_, task) :: rest -> t := rest; Some task
        end
      module Shortest :
        sig
          val name : string
          type priority = int
          val default : priority
          type 'a t = (priority * 'a) list ref
          val create : unit -> 'a list ref
          val is_empty : 'a list ref -> bool
          val add : (priority * 'a) list ref -> priority -> 'b -> 'a -> unit
          val take : ('a * 'b) list ref -> 'b option
        end
      # module By_size = Concord_policies.Make (Shortest)
      module By_size :
        sig
          type priority = int
          val run : ?priority:priority -> (unit -> 'a) -> 'a
          val with_priority : priority -> (unit -> 'a) -> 'a
        end
      # By_size.run @@ fun () ->
        Scope.run @@ fun scope ->
        let send (name, bytes) =
          By_size.with_priority bytes @@ fun () ->
          Scope.fork scope (fun () -> say name)
        in
        List.iter send [ ("film", 9_000); ("page", 3); ("picture", 90) ]
      page
      picture
      film
      - : unit = ()
    ]} *)
module Make (P : Policy.S) : S with type priority = P.priority
