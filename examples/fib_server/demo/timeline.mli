(** What a server does with a few requests that come shortly after each other:
    Figure 2 of "Effectively Composing Concurrency Libraries", measured. *)

type request = {
  sent : float;  (** By the client. *)
  started : float;  (** The server called the request's handler. *)
  ended : float;  (** The handler returned. *)
  answered : float;  (** The client has the answer. *)
}
(** In milliseconds from the beginning of the capture. *)

type ping = { asked : float; ponged : float }

type t = {
  title : string;
  requests : request list;
  pings : ping list;  (** Sent at regular intervals all the while. *)
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
(** In milliseconds. *)

val verdict : t -> string
(** How many requests were handled at the same time, at most. *)
