(** The host of the server on Lwt, like [Eio_host] in examples/http on Eio.

    The handlers would be the same with the server of [cohttp-lwt-unix]. It is
    not used here, because version 6.3 has these faults:

    - If it can't accept a connection because no descriptor is left, it silently
      tries again at once. One core is busy as long as that lasts.
    - Its only time limit is that of a whole connection, busy or not.
    - It takes the body of a [GET] for the next request. It also accepts a body
      with two lengths. So a proxy may see one request where this server sees
      two.
    - If a head is malformed, or larger than 16 kB, it sends no answer. It sends
      a body after the answer to [HEAD], and never sends [100 Continue].

    The user's callback can fix some of these faults, but it is called too late
    for the others. *)

val with_listener :
  Unix.file_descr -> (Http_service.Host.t -> unit) -> unit Lwt.t
(** [with_listener socket f] calls [f] in a task of [Lwt_direct], with a host
    that accepts connections from [socket]. *)
