(** What a server does with a few requests that come shortly after each other.
    This is Figure 2 of "Effectively Composing Concurrency Libraries", measured.
*)

type request = {
  sent : float;  (** The client sent the request. *)
  started : float;  (** The server called the request's handler. *)
  ended : float;  (** The handler returned. *)
  answered : float;  (** The client has the answer. *)
}
(** The times are in milliseconds from the beginning of the capture. *)

type ping = { asked : float; ponged : float }

type t = {
  title : string;
  requests : request list;
  pings : ping list;  (** Pings that were sent at regular intervals meanwhile. *)
}

val capture :
  clock:_ Eio.Time.Mono.t ->
  connect:(sw:Eio.Switch.t -> Http_load.Client.t) ->
  title:string ->
  path:string ->
  gap:float ->
  t
(** [capture ~clock ~connect ~title ~path ~gap] sends requests for [path], [gap]
    seconds apart, each on a connection of its own. *)

val duration : t -> float
(** The duration in milliseconds. *)

val verdict : t -> string
(** The greatest number of requests that were handled at the same time, in
    words. *)
