(* The interface of a host in the matrix. *)

module type S = sig
  val name : string

  val no_siblings : string option
  (** Why tasks of one [run] don't share a thread or a domain. *)

  val main_domain_only : string option
  (** Why its tasks run on no other domain. *)

  val no_foreign : string option
  (** Why its tasks can't wait in structures of other libraries, through
      [Domain_local_await]. *)

  val cancel : ((unit -> unit) -> after:(unit -> unit) -> unit) option
  (** [cancel f ~after], called in a task, calls [f ()] in another task, which
      is cancelled when [after ()] has returned. Returns when that task has
      ended. *)

  val in_lwt : ((unit -> unit) -> unit Lwt.t) option
  (** Starts a task in Lwt's loop. A process has only one. *)

  val run : (unit -> unit) list -> unit
  (** Runs all functions as tasks, on the calling domain if it can, and returns
      when they have ended. *)
end
