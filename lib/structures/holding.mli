(** Events by which a task comes to hold a structure. *)

val event : (Holders.t -> 's -> 'a Event.t) -> 's -> 'a Event.t
(** [event f structure] is [f holder structure], where [holder] is the task that
    performs the event ({!Holders.caller}). It holds nothing until the event
    calls {!Holders.taken}. *)

val measured :
  kind:string ->
  'structure ->
  holder:('structure -> Holders.t) ->
  ('x -> 'a) ->
  'x ->
  'a
(** [measured ~kind structure ~holder f x] is [f x], after which
    [holder structure] {!Holders.gives_back}. Unbroken after [f]. *)
