(** Tasks that fork others, while waits are kept or the program is traced. *)

val max_frames : int
(** How many frames of the parent are noted. *)

val are_observed : unit -> bool
(** Otherwise nothing here needs to be called. Two reads. *)

val here : unit -> Printexc.raw_backtrace
(** The caller's frames. *)

val run :
  at:Printexc.raw_backtrace ->
  parent:Who.t ->
  ask:(unit -> Who.t) ->
  (unit -> 'a) ->
  'a
(** [run ~at ~parent ~ask f] is [f ()], to be called in the new task, which
    [ask ()] says. [parent] forked it [at] these frames. *)
