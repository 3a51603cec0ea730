(** The two sides of a {!Host.shape} through structures of ours, for several
    groups: one sends the numbers from 1, the other adds up what it receives. *)

open Concord

val put : int Mvar.t -> int -> unit
val take : int Mvar.t -> int -> int

val take_before : float -> int Mvar.t -> int -> int
(** With a timeout of so many seconds, which never passes. *)

val before : float -> 'a Event.t -> 'a
(** One event with such a timeout. *)

val channels : int -> 'a Channel.t array

val send : int Channel.t array -> int -> unit
(** On each of the channels in turn, in an order that the processor does not
    foresee. *)

val receive : int Channel.t array -> int -> int

val selected : ways:int -> Host.shape -> int -> float
(** Sent on so many channels in turn to one that selects among them. *)
