(** The time at which to stop waiting for a client. *)

type t = private {
  due : Mtime.t;
  drain : unit Concord.Promise.t;
  idle : bool;
      (** If it is [true], the limit is also reached once [drain] is filled. *)
}

val never : t

val after : ?idle:bool -> unit Concord.Promise.t -> float -> t
(** [after drain seconds] is reached this many seconds from now. *)

val is_drained : t -> bool
(** Whether it has been reached because [drain] is filled. *)

val is_reached : t -> bool

val event : t -> unit Concord.Event.t
(** Is ready once the limit is reached. *)

(** {2 For hosts that watch the time themselves} *)

val is_past : Mtime.t -> bool

val at : Mtime.t -> unit Concord.Event.t
(** Is ready from this time on. *)
