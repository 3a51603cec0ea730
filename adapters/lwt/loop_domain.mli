(** A loop of Lwt that has a domain of its own for the extent of a function. *)

type 'r t
(** A loop, and the value that was made in it. *)

val whichever : unit t
val call : 'r t -> ('r -> 'a Lwt.t) -> 'a

val with_domain :
  run:((unit -> unit Lwt.t) -> unit) ->
  await:(unit Concord.Promise.t -> unit Lwt.t) ->
  ?grace:float ->
  ?close:('r -> unit Lwt.t) ->
  (unit -> 'r Lwt.t) ->
  ('r t -> 'a) ->
  'a
(** {!Concord_lwt.with_domain}. [run] and [await] are those of [Concord_lwt]. *)
