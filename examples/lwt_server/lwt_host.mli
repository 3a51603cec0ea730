(** The server on Lwt: what [Eio_host] of the other example is on Eio.

    Handlers are the same with the server of [cohttp-lwt-unix]. It is not used
    here because, in version 6.3,
    - it tries again at once, and silently, when it cannot accept a connection
      for lack of descriptors: one core is busy for as long as that lasts;
    - its only time limit is that of a whole connection, busy or not;
    - it does not take the body of a [GET] for a body, but for the next request,
      and accepts a body with two lengths: what a proxy takes for one request
      may be two;
    - it answers nothing if a head is malformed or larger than 16 kB, sends a
      body after the answer to [HEAD], and never [100 Continue].

    The user's callback can make up for some of that, and comes too late for the
    rest. *)

val with_listener :
  Unix.file_descr -> (Http_service.Host.t -> unit) -> unit Lwt.t
(** [with_listener socket f] calls [f], in a task of [Lwt_direct], with what
    accepts from [socket]. *)
