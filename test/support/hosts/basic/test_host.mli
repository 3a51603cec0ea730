(** A host, as tests run it: how to start its loop, fork tasks and let them run,
    and whether it can cancel them.

    The hosts themselves are in {!Basic_hosts}, and in libraries that each link
    one dependency more: [Style_hosts], [Eio_hosts], [Domainslib_hosts],
    [Job_hosts] and [Lwt_hosts]. So a test decides which adapters are linked. *)

type tasks = {
  fork : (unit -> unit) -> unit;
      (** Starts a task. It is called on the body's thread, also in a loop of
          another host that the body runs. *)
  pause : unit -> unit;
      (** Lets other tasks run. It is called in the body, or in a task. *)
}
(** What [run] passes to its body. *)

type t = {
  name : string;  (** In tables and cases. *)
  reported : string;
      (** In reports and traces; a thread that no scheduler runs has [""]. *)
  run : (tasks -> unit) -> unit;
      (** [run body] calls [body tasks] on the calling domain, in a task if it
          can, and returns when it and the tasks that it forked have ended. *)
  cancel : ((unit -> unit) -> after:(unit -> unit) -> unit) option;
      (** [cancel f ~after], in a task, calls [f ()] in another one, which is
          cancelled when [after ()] has returned. It returns when that task has
          ended. [None] if the host cannot cancel its tasks. *)
}

val run_all : t -> (unit -> unit) list -> unit
(** [run_all host fs] runs each function in a task of its own, and returns when
    they have ended. *)

val within : outer:t -> t -> t
(** [within ~outer inner] is [inner], whose loop runs in a task of [outer]. *)
