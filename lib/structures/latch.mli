(** A count that opens a gate, once, when it reaches zero.

    An operation without a {b Suspends} line never suspends and performs no
    effect. Without a {b Cost} line it is O(1). *)

type t

val create : ?name:string -> int -> t
(** [create n] opens after [n] calls of {!count_down}; it is open if [n] is 0.
    [name] is for reports.

    - {b Raises} [Invalid_argument] if [n] is negative. *)

val count_down : t -> unit
(** [count_down t] lowers the count; at zero [t] opens, for ever, and all tasks
    that wait go on, in the order of their arrival.

    - {b Cost}: O(1), and at zero O(n) for the [n] tasks that wait.
    - {b Raises} [Invalid_argument] if [t] is open. *)

val await : t -> unit
(** [await t] returns once [t] is open.

    - {b Suspends} until then.
    - {b Cancelled} while suspended: the count stays as it is.
    - {b Order}: that of arrival.
    - {b Cost}: O(1), also to withdraw (amortised). *)

val await_evt : t -> unit Event.t
(** The event of {!await}. *)

val is_open : t -> bool
(** Is the count zero? *)

val count : t -> int
(** How many calls of {!count_down} are missing. *)

val waiters : t -> int
(** How many tasks wait, for diagnosis. One that was cancelled counts until it
    is unwound. *)
