(** The server of cohttp-lwt-unix, as its manual has it, where it is installed.
*)

val serve : text:string -> Lwt_unix.file_descr -> unit Lwt.t
(** Answers each request that comes to this listener with [text].

    @raise Failure if cohttp-lwt-unix was not installed when this was built. *)
