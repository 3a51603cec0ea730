(** The two sides of a {!Host.shape} through Concord's structures, for several
    groups. One side sends the numbers from 1 on, and the other adds up the
    numbers that it receives. *)

open Concord

val put : int Mvar.t -> int -> unit
val take : int Mvar.t -> int -> int

val take_before : float -> int Mvar.t -> int -> int
(** Takes with a timeout of so many seconds, which never passes. *)

val before : float -> 'a Event.t -> 'a
(** Waits for one event with such a timeout. *)

val in_time : 'a option -> 'a
(** Fails if such a timeout has passed. *)

val channels : int -> 'a Channel.t array

val send : int Channel.t array -> int -> unit
(** Sends on each of the channels in turn, in an order that the processor can't
    predict. *)

val receive : int Channel.t array -> int -> int

val selected : ways:int -> Host.shape -> int -> float
(** One side sends on so many channels in turn, and the other selects among
    them. *)
