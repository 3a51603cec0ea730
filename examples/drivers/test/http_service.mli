(** An HTTP server in this process, and its client. *)

type server = {
  path : string;  (** of its socket *)
  address : Unix.sockaddr;
  connections : int Atomic.t;  (** As the server counts them. *)
}

val start :
  ?over:(Unix.file_descr -> Socket.t) ->
  ?on_error:(Unix.sockaddr -> exn -> unit) ->
  string ->
  server
(** [start name] is a server, in a domain, which ends with the program. Its
    socket is called [name]. *)

val create :
  ?over:(Unix.file_descr -> Socket.t) -> name:string -> server -> Service.t

val curl : ?options:string list -> (string -> string) -> server -> unit
(** [curl url_of server] checks that curl gets two answers, of
    [url_of "/posted"] and [url_of "/got"], with these options. *)
