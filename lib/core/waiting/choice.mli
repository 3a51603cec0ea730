(** Choosing one of several operations, so that the others don't happen.

    {!Concord.Event} makes the alternatives of events. *)

(** {2 The parts of an event} *)

type 'b kind =
  | Plain  (** The operation is performed once a waiter is resumed. *)
  | Last  (** The operation is enlisted after the others. *)
  | Once
      (** A choice enlists the operation once for each structure, however often
          it has the operation. *)
  | Tentative of ('b -> bool)
      (** A waiter may be resumed in vain. The resumed task calls the function,
          which returns [true] if the operation was performed. *)

(** The functions that are wrapped around an operation. *)
type (-'c, +'a) post =
  | Then of ('c -> 'a)
  | Handled of ((unit -> 'c) -> 'a)
      (** It also handles exceptions. The argument returns the result of the
          operation, or raises its exception. *)

type ('b, 'c, +'a) after = {
  finish : 'b -> 'c;  (** The last part of the operation itself. *)
  post : ('c, 'a) post;
  within : Aborts.t list;  (** The [wrap_abort]s around it. *)
  kind : 'b kind;
}
(** What follows an operation that was chosen. It is a record of its own because
    for most operations it is the same, and because a waiting choice keeps it.
*)

type +'a alternative =
  | Alternative : {
      operation : ('t, 'x, 'b) Operation.t;
      structure : 't;
      arg : 'x;
      after : ('b, 'c, 'a) after;
    }
      -> 'a alternative  (** One operation that can be chosen. *)
  | In_order of 'a alternative list
      (** They are tried in this order, as if they were one. *)
  | In_any_order of 'a alternative list  (** A choice inside an [In_order]. *)

(** {2 Choosing} *)

type 'a chosen
(** An alternative that was performed, with its result. *)

val attempt_any : 'a alternative array -> 'a chosen option
(** [attempt_any alternatives] tries all of them in a random order, in which
    each is equally likely to come before each other. It permutes the array. *)

val reversed : 'a alternative array -> 'a alternative array
(** [reversed alternatives] is a copy in reverse order. *)

val perform_any : 'a alternative array -> 'a chosen
(** [perform_any alternatives] does the same as {!attempt_any}, but if none can
    be performed now, the task waits for all of them. The last alternative is
    the first one in the program's source, so that reports show it first.

    - {b Suspends} while none can be performed.
    - {b Cancelled} while suspended, it has performed none. All are withdrawn,
      and the host's exception is raised.
    - {b Order}: at each structure, the order in which tasks arrived.
    - {b Cost}: amortised O(1) for each alternative. *)

val conclude : Aborts.due -> 'a chosen -> 'a
(** [conclude due chosen] finishes the operation, and runs the aborts that are
    not around it and the functions that are wrapped around it. It suspends
    where these do.

    - {b Raises} [e] if the operation or one of these functions raises [e]. *)

(** {2 For {!Rounds}} *)

val attempt : 'a alternative -> 'a chosen option

val wait_for_any :
  in_order:'a alternative array -> 'a alternative array -> 'a chosen
(** [wait_for_any ~in_order alternatives] waits as {!perform_any} does, but the
    task may have been resumed in vain. Reports show the alternatives as they
    are [in_order]. *)

val is_confirmed : 'a chosen -> bool
(** [is_confirmed chosen] is [false] if the task was resumed in vain. Call it
    once, in the task. *)
