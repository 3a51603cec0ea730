(** Values of JSON, to the extent that they are written here. *)

type t =
  | Int of int
  | Microseconds of int  (** Given in nanoseconds. *)
  | String of string
  | List of t list
  | Object of (string * t) list

val add : Buffer.t -> t -> unit
(** Nothing in it ends a [script] of HTML. *)
