(** A queue of tasks that became ready elsewhere, which can wake a loop that
    sleeps. Any thread posts to it, and one thread, the loop's, serves it (H2 to
    H4).

    {b Stability}: experimental, because it shows how the library works inside,
    and a faster wait may change it.

    A wake-up can be posted together with the decision of H3, unbroken.

    {[
      # open Concord.Tools.Host_kit
      # let ready = Inbox.create ()
      val ready : '_weak1 Inbox.t = <abstr>
      # Inbox.post ready "a task" = Posted
      - : bool = true
      # Inbox.serve ready print_endline
      a task
      - : bool = true
      # Inbox.fall_asleep ready
      - : bool = true
      # Inbox.post ready "another task" = Posted_to_sleeper
      - : bool = true
    ]} *)

type 'a t
(** Messages of type ['a], in the order of posting. *)

val create : unit -> 'a t
(** An empty queue, whose loop is awake. *)

(** {2 For any thread} *)

type posted =
  | Refused  (** The wait had been decided. Nothing has happened. *)
  | Posted  (** The loop is awake, and will see the message. *)
  | Posted_to_sleeper  (** The loop sleeps, so the caller has to wake it. *)

val post : 'a t -> 'a -> posted
(** [post t message] puts [message] behind the messages that were posted before.

    The result is never {!Refused}. If it raises the exception of a signal
    handler, nothing has happened.

    - {b Cost}: O(1), two atomic operations. It never waits for another thread.
*)

val decide_and_post : 'a t -> 'b Decision.t -> ('b, exn) result -> 'a -> posted
(** [decide_and_post t decision outcome message] decides and, if that succeeds,
    posts [message].

    If it raises, nothing has happened. Once it has decided, there is no polling
    point until it has returned.

    - {b Cost}: O(1), three atomic operations. It never waits for another
      thread. *)

val resumer :
  'a t ->
  wake:(unit -> unit) ->
  'b Decision.t ->
  (('b, exn) result -> 'a) ->
  ('b, exn) result ->
  bool
(** [resumer t ~wake decision message] is the resumer of a task (H2).

    With an [outcome] it decides, posts [message outcome], calls [wake ()] if
    the loop sleeps, and returns whether it has decided. Make it before [block]
    is called, because making it allocates.

    It is unbroken. If something raises before the decision, the resumer begins
    again. After it, [wake ()] is called until it returns. Then the exception is
    raised, which means that the task was resumed. But if the wait was decided
    by another thread meanwhile, the result is [false], and the exception is
    raised where the thread waits next.

    - {b Cost}: that of {!decide_and_post}, and that of [wake]. *)

(** {2 For the loop} *)

val is_empty : 'a t -> bool
(** [is_empty t] is [true] if there is no message to serve. A message does not
    count while it is behind one that another thread is just posting. *)

val serve : 'a t -> ('a -> unit) -> bool
(** [serve t f] calls [f] for the message that came first, and returns [true],
    or returns [false] if there is no message.

    The message leaves the queue when [f] has returned. If [f] raises, or does
    not return, the next [serve] calls [f] for the same message again, and so
    does a [serve] in [f] itself. Therefore, let [f] do nothing the second time.

    - {b Raises} [e] if [f] raises [e]. *)

val served : 'a t -> int
(** The number of messages that have left the queue. *)

val fall_asleep : 'a t -> bool
(** Announces that the loop is going to sleep. If it is [false], there is a
    message to serve, and the loop must not sleep. *)

val wake_up : 'a t -> unit
(** The loop is awake, so posting doesn't have to wake it. *)
