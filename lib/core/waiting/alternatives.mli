(** The alternatives that an event consists of. *)

open Choice

(** An event, as it was built. *)
type +_ t =
  | One : 'a alternative -> 'a t
  | Wrap : 'b t * ('b -> 'a) -> 'a t
  | Choose : 'a t list -> 'a t
  | Guard : (unit -> 'a t) -> 'a t
  | Wrap_abort : 'a t * Aborts.t -> 'a t
  | Wrap_handler : 'a t * (exn -> 'a) -> 'a t
  | Prefer : 'a t list -> 'a t

val flatten : 'a t -> 'a alternative array * Aborts.t list
(** [flatten t] returns the alternatives of [t], in an order of its own, and all
    its [wrap_abort]s, the latest first. It calls the functions of [Guard]. It
    doesn't suspend. O(n).

    - {b Raises} [e] if one of these functions raises [e]. *)

val is_fixed : 'a t -> bool
(** [is_fixed t] is [true] if [t] consists of the same alternatives each time.
*)
