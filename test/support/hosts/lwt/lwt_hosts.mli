(** Tasks in Lwt's loop. A process has only one such loop. *)

type loop = (unit -> unit Lwt.t) -> unit
(** [Concord_lwt.run], or {!lwt_main}. *)

val lwt_main : loop
(** [Lwt_main.run]. *)

val promises : loop -> Test_host.t
(** Tasks of [Concord_lwt.direct], each of which is a promise. *)

val lwt_direct : loop -> Test_host.t
(** Tasks of [Lwt_direct.spawn]. *)
