(** Functions that tasks of any host have Lwt's loop call. *)

val post : (unit -> 'a Lwt.t) -> 'a Concord.Promise.t
(** {!Concord_lwt.post}. *)

val call : (unit -> 'a Lwt.t) -> 'a
(** {!Concord_lwt.call}. *)
