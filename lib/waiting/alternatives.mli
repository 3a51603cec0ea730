(** Which alternatives does an event consist of? *)

open Choice

(** An event, as it was made. *)
type +_ t =
  | One : 'a alternative -> 'a t
  | Wrap : 'b t * ('b -> 'a) -> 'a t
  | Choose : 'a t list -> 'a t
  | Guard : (unit -> 'a t) -> 'a t
  | Wrap_abort : 'a t * Aborts.t -> 'a t
  | Wrap_handler : 'a t * (exn -> 'a) -> 'a t
  | Prefer : 'a t list -> 'a t

val flatten : 'a t -> 'a alternative array * Aborts.t list
(** Its alternatives, in an order of their own, and all the [wrap_abort]s in it,
    latest first. Calls the functions of [Guard]. Does not suspend; O(n).

    - {b Raises} what these functions raise. *)

val is_fixed : 'a t -> bool
(** It consists of the same alternatives each time. *)
