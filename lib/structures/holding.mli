(** Events and brackets by which a task comes to hold a structure. *)

val event : (Holders.t -> 's -> 'a Event.t) -> 's -> 'a Event.t
(** [event f structure] is [f holder structure], where [holder] is the task that
    performs the event ({!Holders.caller}). It holds nothing until the event
    calls {!Holders.taken}. *)

val giving_back :
  kind:string ->
  holder:('structure -> Holders.t) ->
  'structure ->
  ('x -> 'a) ->
  'x ->
  'a
(** [giving_back ~kind ~holder structure f x] is [f x], after which
    [holder structure] {!Holders.gives_back}. Unbroken after [f]. *)

val within :
  kind:string ->
  ?ends:Holder.ends ->
  ?holder:('structure -> Holders.t) ->
  'structure ->
  (Holders.t -> ('x -> 'a) -> 'b) ->
  ('x -> 'a) ->
  'b
(** [within ~kind structure bracket f] is [bracket holder f], in which [holder]
    is the calling task ({!Holders.within}), and {!Holders.gives_back} after
    [f]. [holder structure] is the one that gives back, if it may be another one
    by then. Call it while {!Observer.looks_at_takers}. *)
