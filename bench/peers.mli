(** The peers that several cases are compared with. *)

val stream_eio : capacity:int -> Host.shape -> int -> float
(** A message through an [Eio.Stream]. *)

val take_eio : int Eio.Stream.t -> int -> int
(** The sum of so many items. *)

val queue_stdlib : capacity:int -> Host.shape -> int -> float
(** A queue with a mutex and two conditions of Stdlib. *)

val stream_domainslib : capacity:int -> int -> float
(** A message through a [Domainslib.Chan] between two domains. It blocks the
    whole domain, so there are no serial cases. *)

val receive_domainslib : int Domainslib.Chan.t -> int -> int
(** The sum of so many messages. *)

val serial_lwt :
  push:(int -> unit Lwt.t) -> next:(unit -> int Lwt.t) -> int -> float
(** A message pushed by one thread of Lwt and received by another. *)
