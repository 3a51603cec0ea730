(** A host as tests run it. It says how to start its loop, how to fork tasks and
    let them run, and whether it can cancel them.

    The hosts themselves are in {!Basic_hosts}, and in libraries that each link
    one more dependency: [Style_hosts], [Eio_hosts], [Domainslib_hosts],
    [Job_hosts] and [Lwt_hosts]. So a test decides which adapters are linked. *)

type tasks = {
  fork : (unit -> unit) -> unit;
      (** Starts a task. It is called on the body's thread, even in a loop of
          another host that the body runs. *)
  pause : unit -> unit;
      (** Lets other tasks run. It is called in the body or in a task. *)
}
(** The argument that [run] passes to its body. *)

type t = {
  name : string;  (** The name in tables and cases. *)
  reported : string;
      (** The name in reports and traces. It is [""] for a thread that no
          scheduler runs. *)
  run : (tasks -> unit) -> unit;
      (** [run body] calls [body tasks] on the calling domain, in a task if it
          can. It returns when the body and the tasks that it forked have ended.
      *)
  cancel : ((unit -> unit) -> after:(unit -> unit) -> unit) option;
      (** [cancel f ~after], called in a task, calls [f ()] in another task,
          which is cancelled when [after ()] has returned. It returns when that
          task has ended. [None] if the host can't cancel its tasks. *)
}

val run_all : t -> (unit -> unit) list -> unit
(** [run_all host fs] runs each function in its own task, and returns when all
    have ended. *)

val within : outer:t -> t -> t
(** [within ~outer inner] is [inner], but its loop runs in a task of [outer]. *)
