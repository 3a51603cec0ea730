(** A scheduler whose order you choose: first come first served, the latest
    first, priorities, deadlines, or an order of your own.

    {b Stability}: experimental, may change in any release.

    The tasks of a scheduler take turns on one thread. When a task waits, the
    policy says which of the ready ones is next.
    {{!/concord/policies}Which scheduler for which work} has figures.

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

    Tasks are forked by {!Concord.Scope} and {!Concord.Tasks}. They wait in
    Concord's structures, with tasks of any other scheduler, and are cancelled
    as {!Concord.Scope} and {!Concord.Tasks} say. A forked task is ready; the
    one that forked it keeps its turn.

    A task keeps its turn until it waits or yields. So no policy takes the turn
    from a task that computes. And no lock knows of priorities: a task that
    holds one may be behind others while an urgent task waits for it. *)

module Policy : sig
  type reason = Policy.reason =
    | Forked  (** It has not begun. *)
    | Resumed  (** What it waited for has come. *)
    | Yielded
        (** It lets others go first; or another thread resumed it while it was
            about to wait. *)

  (** To write one: which of the ready tasks is next? A policy need not be safe
      for several threads. Its functions raise nothing and do not suspend. *)
  module type S = sig
    val name : string
    (** For reports and messages. *)

    type priority
    (** What is known of a task. *)

    val default : priority

    type 'a t
    (** The ready tasks of one run. *)

    val create : unit -> 'a t
    (** There are none. *)

    val add : 'a t -> priority -> reason -> 'a -> unit
    (** A task has become ready, for this reason. Put one that [Yielded] behind
        others: that is what {!Concord.Tasks.yield} is for. *)

    val take : 'a t -> 'a option
    (** Removes the task that is next. [None] only if there is none. *)

    val is_empty : 'a t -> bool
    (** Are there no ready tasks? *)
  end

  module Fifo : S with type priority = unit
  module Lifo : S with type priority = unit
  module Levels : S with type priority = int
  module Deadline : S with type priority = float
end

(** A scheduler. *)
module type S = sig
  type priority

  val run : ?priority:priority -> (unit -> 'a) -> 'a
  (** [run main] calls [main ()] in a task. It returns or raises what that did,
      after all tasks have ended. [priority] is that of the first task, by
      default the policy's default.

      Each run has its own tasks. It may be inside of a task of another
      scheduler, also of this one.

      - {b Suspends} the calling task, whatever its host, while no task is
        ready. While one is, other tasks of that host have no turn.
      - {b Cancelled} while suspended: the tasks are cancelled. When they have
        ended, the host's exception is raised.
      - {b Signal handlers}: what one raises cancels the tasks, and [run] raises
        it when they have ended. If it comes while the scheduler handles what a
        task performs, this task is not unwound.
      - {b Raises} {!Concord.Tools.Suspend.Never_resumed} if nothing is left
        that could resume a task, after all tasks have been cancelled. *)

  val with_priority : priority -> (unit -> 'a) -> 'a
  (** [with_priority p f] is [f ()], with [p] as the priority of the calling
      task until [f] ends. A task that is forked meanwhile has it too, for its
      whole life. It counts from the next time when the task becomes ready: the
      calling task goes on.

      - {b Raises} [Invalid_argument] if the caller is no task of this
        scheduler. *)
end

exception Cancelled
(** Raised in a cancelled task where it waits. *)

(** {1 The policies} *)

module Fifo : S with type priority = unit
(** The first that became ready. Fair: each ready task has its turn.
    [Concord_fifo] has the same order, and is faster. O(1). *)

module Lifo : S with type priority = unit
(** The last that became ready, forked or resumed. Those that yielded come last,
    in their order. So a program that forks a tree of tasks goes through it in
    depth, and keeps few of them alive. Not fair: a task waits as long as others
    keep becoming ready. O(1). *)

module Levels : S with type priority = int
(** The lowest number, and the first that became ready among equals. The default
    is 0. Not fair: a task waits as long as those of lower numbers keep becoming
    ready. O(log n) for [n] numbers that are in use. *)

module Deadline : S with type priority = float
(** The earliest deadline, and the first that became ready among equals. The
    deadlines are times of any clock, the same for all: [Unix.gettimeofday],
    say. The default is [infinity]. Nothing happens when a deadline is over; for
    that there is {!Concord.Tasks.with_timeout}. A task whose deadline is the
    same for its whole life has its turn at last. O(log n) for [n] deadlines of
    ready tasks. *)

(** {1 A policy of your own} *)

(** In this example the task with the fewest bytes left to send is next.

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
