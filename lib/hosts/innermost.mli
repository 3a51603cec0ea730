(** Which scheduler registered itself last with [Domain_local_await] on the
    calling thread, cheaply.

    [Domain_local_await] keeps one scheduler for a domain, or one for each of
    its threads once [per_thread] was called there. It is called here for each
    domain before this library first uses it, and for the main domain when the
    program starts. (OCaml has no hook that runs at the start of every domain.)
*)

type t
(** What is known about one domain. *)

val get : unit -> t
(** That of the calling domain. *)

type flag = {
  mutable up : bool;  (** Put up here only; anybody may put it down. *)
  mutable asked : bool;  (** For the owner. *)
}
(** For one scheduler that runs in a thread; down at first. *)

val raise_flag : t -> flag -> unit
(** Puts the flag up. It goes down when a scheduler is registered on the domain,
    or somebody asks [Domain_local_await] to wait there; not when a scheduler is
    left. If these cannot be observed, it stays down. *)

(** {2 A note for the calling thread}

    One number can be remembered, for the calling thread and until a flag would
    go down. *)

val note : t -> int -> unit

val noted : t -> int
(** The number, or [-1]. *)
