(** Events of each wait, while the program is traced (see
    {!Concord.Tools.Trace}).

    None of these functions suspends. All are safe from any domain and thread.
*)

include module type of struct
  include Trace_event
end

val start : unit -> unit
(** Starts the runtime's events, too. From now on, each suspension is reported.
*)

val stop : unit -> unit

val on_signal : int -> unit
(** The signal calls {!start} and {!stop} in turn. *)

(** {2 Emitting}

    Call these only while {!Observer.is_traced}. *)

val during :
  who:Who.t ->
  ask:(unit -> Who.t) ->
  Target.t list ->
  (('a Concord_suspend.resumer -> 'a option) -> 'a) ->
  ('a Concord_suspend.resumer -> 'a option) ->
  'a
(** [during ~who ~ask targets suspend block] is [suspend block], with events.
    [ask ()] is the caller of a resumer. It must not suspend. *)

val operation :
  host:string ->
  ask:(unit -> Who.t) ->
  Target.t ->
  ('a Concord_suspend.resumer -> 'a option) ->
  ('a Concord_suspend.resumer -> 'a option) * (exn option -> unit)
(** {!Waits.operation}, with events. The second function is called with the
    exception of the operation, if it failed. *)

val forked :
  parent:Who.t -> at:string -> ask:(unit -> Who.t) -> (unit -> 'a) -> 'a
(** [forked ~parent ~at ~ask f] is [f ()], in a new task that the line [at]
    forked. The task and its end have events. *)

val queue : string -> int -> unit
val mark : ask:(unit -> Who.t) -> string -> unit

(** {2 Reading} *)

val register : unit -> unit
(** A reader has to call it, because the runtime gives it only events of types
    that it knows. *)

val tag_name : string
val payload : string Runtime_events.Type.t
