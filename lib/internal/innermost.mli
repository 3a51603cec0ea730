(** Which scheduler registered itself last with [Domain_local_await] on the
    calling thread, cheaply.

    [Domain_local_await] keeps one scheduler for a domain, or one for each of
    its threads once [per_thread] was called there. It is called here for each
    domain before this library first uses it, and for the main domain when the
    program starts. (OCaml has no hook that runs at the start of every domain.)
*)

type t = private {
  mutable generation : int;
      (** Not negative. It changes whenever a scheduler is registered on the
          domain, and also whenever somebody asks [Domain_local_await] to wait
          there; not when a scheduler is left. *)
  observed : bool;
      (** [false] if these changes cannot be seen: then no two reads of
          [generation] may be taken for equal. *)
  note : note;
}
(** What is known about one domain. *)

and note

val get : unit -> t
(** That of the calling domain. *)

(** {2 A note for the calling thread}

    One number can be remembered, which holds until the next generation and for
    the calling thread only. *)

val note : t -> int -> unit

val noted : t -> int
(** The number, or [-1]. *)
