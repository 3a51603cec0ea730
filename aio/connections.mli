(** Servers and clients. *)

open Unix

(** {2 Servers and clients} *)

val run_server :
  ?connections:int ->
  ?stop:unit Concord.Event.t ->
  ?on_error:(sockaddr -> exn -> unit) ->
  ?on_shortage:(exn -> unit) ->
  file_descr ->
  (file_descr -> sockaddr -> unit) ->
  unit
(** [run_server listener serve] accepts connections, and calls
    [serve socket peer] for each, in a task of the caller's host
    ({!Concord.Scope}). When [serve] has ended, [socket] is closed. [serve] may
    close it before, or make channels of it, whose end closes it. Then it isn't
    closed again. A [socket] of TCP sends at once ([TCP_NODELAY]). Otherwise the
    system could keep a short answer for 40 ms, until the peer acknowledges the
    one before.

    It serves up to [connections] at the same time, by default 1,000. The others
    wait in the queue of the system.

    If [serve] raises [e], this is not an error of the server: it calls
    [on_error peer e], which by default prints [e] on the standard error.

    If no descriptor or memory is left for a connection ([EMFILE], [ENFILE]),
    the connection waits in the system's queue, and [run_server] tries again
    every 50 ms. It calls [on_shortage e] before the first of these pauses,
    which by default prints a line on the standard error.

    If [on_error] or [on_shortage] raises, the server fails, and so does the
    server if accepting fails for another reason, such as a closed [listener].

    - {b Suspends} until [stop] happens, then until all connections have ended.
      It accepts none after [stop]. For example, pass [Promise.await_evt] of a
      promise. Without [stop] it runs until it is cancelled. It doesn't close
      [listener].
    - {b Cancelled}, it cancels [serve] of each connection, closes their
      sockets, and raises. [Tasks.with_timeout] therefore limits the time after
      [stop].
    - {b Raises} [Invalid_argument] if [connections < 1]. *)

val connect_by_name :
  ?delay:float ->
  ?resolve:(string -> string -> addr_info list) ->
  string ->
  string ->
  file_descr
(** [connect_by_name host service] is a stream socket connected to the host, for
    example ["ocaml.org"] and ["443"].

    A host may have several addresses, of which some don't answer. It therefore
    tries them as RFC 8305 says. It takes those of IPv6 and IPv4 by turns, in
    the order of the resolver. If the first one has not answered after [delay]
    seconds, by default 0.25, or has failed, it tries the next one beside it.
    The first one to be connected is the result, and the sockets of the others
    are closed. The result sends at once ([TCP_NODELAY]), as those of
    {!run_server}.

    - {b Suspends} until then. There is no limit of time, except the system's.
    - {b Cancelled}, it closes all sockets.
    - {b Cost}: one [resolve], by default {!Concord_aio.getaddrinfo}, and a task
      for each address tried.
    - {b Raises} [Unix.Unix_error (error, "connect_by_name", host)] if no
      address answers, with the error of the first address to fail. It is
      [EHOSTUNREACH] if there is no address, and [EMFILE] if no descriptor is
      left. *)
