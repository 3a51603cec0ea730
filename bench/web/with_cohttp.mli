(** The server of cohttp-lwt-unix, as its manual shows it, if it is installed.
*)

val serve : text:string -> Lwt_unix.file_descr -> unit Lwt.t
(** Answers each request to this listener with [text].

    @raise Failure if cohttp-lwt-unix was not installed when this was built. *)
