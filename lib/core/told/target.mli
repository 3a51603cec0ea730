(** Where a task waits. A choice waits in several targets. *)

type t = private {
  operation : string;  (** For example ["Mvar.take"]. *)
  structure : Identity.pointer;
  holders : unit -> Holder.t list;
      (** The tasks that can end a wait, if they are known. There are none once
          the structure was collected. *)
  state : unit -> string;
      (** The state of the structure, for example ["0 permits left"]. It is [""]
          if the state explains nothing, or the structure was collected. *)
  from_outside : bool;  (** [true] if the operating system ends the wait. *)
}

val make :
  ?state:('structure -> string) ->
  ?from_outside:bool ->
  string ->
  'structure ->
  ('structure -> Holder.t list) ->
  t
(** [make ~state operation structure holders] is such a target. It doesn't keep
    the structure alive. *)
