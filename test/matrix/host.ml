(* What the matrix asks of a host. *)

module type S = sig
  val name : string

  val no_siblings : string option
  (** Why tasks of one [run] do not share a thread or a domain. *)

  val main_domain_only : string option
  (** Why its tasks run on no other domain. *)

  val no_foreign : string option
  (** Why its tasks do not wait in what is not Concord's, through
      [Domain_local_await]. *)

  val cancel : ((unit -> unit) -> after:(unit -> unit) -> unit) option
  (** [cancel f ~after], in a task: [f ()] in another one, which is cancelled
      when [after ()] has returned. Returns when it has ended. *)

  val in_lwt : ((unit -> unit) -> unit Lwt.t) option
  (** Starts a task in Lwt's loop, of which a process has one. *)

  val run : (unit -> unit) list -> unit
  (** Runs them all as tasks, on the calling domain if it can, and returns when
      they have ended. *)
end
