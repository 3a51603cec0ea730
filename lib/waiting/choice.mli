(** Choosing one of several operations: the others have not happened.

    {!Concord.Event} makes the alternatives of events. *)

(** {2 What an event consists of} *)

type 'b kind =
  | Plain  (** Performed once a waiter is resumed. *)
  | Last  (** To be enlisted after the others. *)
  | Tentative of { confirm : 'b -> bool; once : bool }
      (** A resumption may be in vain. [confirm]: was the operation performed?
          To be asked in the task that was resumed. [once]: a choice enlists it
          once for each structure, however often it has the operation. *)

(** What is wrapped around an operation. *)
type (-'c, +'a) post =
  | Then of ('c -> 'a)
  | Handled of ((unit -> 'c) -> 'a)
      (** For functions that look at exceptions too: the argument gives the
          result of the operation, or raises what that raised. *)

type +'a alternative =
  | Alternative : {
      operation : ('t, 'x, 'b) Operation.t;
      structure : 't;
      arg : 'x;
      finish : 'b -> 'c;  (** What is left of the operation itself. *)
      post : ('c, 'a) post;
      within : Aborts.t list;  (** The [wrap_abort]s around it. *)
      kind : 'b kind;
    }
      -> 'a alternative  (** One operation that can be chosen. *)
  | In_order of 'a alternative list
      (** Tried in this order, as if they were one. *)
  | In_any_order of 'a alternative list  (** For one in an order. *)

(** {2 Choosing} *)

type 'a chosen
(** An alternative that was performed, with its result. *)

val attempt_any : 'a alternative array -> 'a chosen option
(** Tries all, in an order in which each is equally likely before each other;
    the array is permuted. *)

val reversed : 'a alternative array -> 'a alternative array
(** A copy in the other order. *)

val perform_any : 'a alternative array -> 'a chosen
(** As {!attempt_any}; if none can be performed now, the task waits for all. The
    last one is the first one in the program's source: so reports show them.

    - {b Suspends} while none can be performed.
    - {b Cancelled} while suspended: none was performed, all are withdrawn, and
      the host's exception is raised.
    - {b Order}: that of arrival at each structure.
    - {b Cost}: O(1) for each alternative (amortised). *)

val conclude : Aborts.due -> 'a chosen -> 'a
(** Finishes the operation, runs those of the aborts that are not around it, and
    what is wrapped around it. Suspends where these do.

    - {b Raises} [e] if the operation or one of these functions raised [e]. *)

(** {2 For {!Rounds}} *)

val attempt : 'a alternative -> 'a chosen option

val wait_for_any :
  in_order:'a alternative array -> 'a alternative array -> 'a chosen
(** As {!perform_any} waits; but it may have been resumed in vain. Reports show
    the alternatives as they are [in_order]. *)

val is_confirmed : 'a chosen -> bool
(** Was it not? To be asked once, in the task. *)
