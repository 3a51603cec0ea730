(** A task that holds a structure, such as a locked mutex.

    None of these functions suspends. All are safe from any domain and thread.
*)

type t = {
  by : Who.t;
  mutable since_ns : int;
  held_at : Printexc.raw_backtrace;  (** Where it took the structure. *)
  mutable ends : ends;  (** Which waits it ends. Set before others see it. *)
}

and ends =
  | With_others
      (** A wait lasts as long as one of the holders holds, as for a lock with
          several readers. *)
  | Alone of int
      (** Each holder of the structure can end a wait there, as for a pool. It
          has so many of the permits. *)
  | Perhaps
      (** Other tasks may end the wait in its place, so it is in no cycle. *)

val held : Who.t -> t
(** A holder from now on, at the caller's frames. *)

val measured : unit -> t
(** A holder from now on, of which nothing else is known. *)

val held_from_now : t -> unit
(** It had to wait, and continues now. Unbroken. *)

val not_held_yet : t -> unit
(** It has to wait, until {!held_from_now}. *)

val is_held : t -> bool
(** [false] from {!not_held_yet} to {!held_from_now}. *)

val not_ended : Who.t -> t
(** A task that others wait for to end. It is a holder by not having ended. The
    time when it began is not known, and there are no frames. *)

val forgotten : t -> t
(** A holder of which only the host is known. *)

val given : t
(** A task that was given something, and whose identity is not known yet. *)
