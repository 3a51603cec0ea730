(** An Eio loop that has a domain of its own for the extent of a function. See
    {!Concord_eio.with_domain}. *)

exception No_loop

type 'r t

val call : 'r t -> ('r -> 'a) -> 'a

val with_domain :
  ?grace:float ->
  (('env -> unit) -> unit) ->
  (sw:Eio.Switch.t -> 'env -> 'r) ->
  ('r t -> 'a) ->
  'a
