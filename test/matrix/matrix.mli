(** Every structure between every two hosts, both ways. *)

val run : title:string -> unit
(** Runs all cells, and prints them; exits with a code that is not 0 if one
    fails or never ends. *)

val run_styles : title:string -> unit
(** As {!run}, between each style of [concord.styles] and each host and style.
*)

(** One more host. *)
module type Host = sig
  val name : string

  val no_siblings : string option
  (** Why tasks of one [run] do not share a thread or a domain. *)

  val cancel : ((unit -> unit) -> after:(unit -> unit) -> unit) option
  (** [cancel f ~after], in a task: [f ()] in another one, which is cancelled
      when [after ()] has returned. Returns when it has ended. *)

  val in_lwt : ((unit -> unit) -> unit Lwt.t) option
  (** Starts a task in Lwt's loop, of which a process has one. *)

  val run : (unit -> unit) list -> unit
  (** Runs them all as tasks, on the calling domain if it can, and returns when
      they have ended. *)
end

val run_with : (module Host) -> title:string -> unit
(** As {!run}, between this host, whose tasks are on the initial domain, and
    each of the others; each cell in both roles. *)
