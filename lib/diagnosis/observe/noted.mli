(** Waits that are kept for reports, or reported to a program that traces, or
    both. *)

open Concord_suspend

val wait :
  who:Who.t ->
  Target.t list ->
  (('a resumer -> 'a option) -> 'a) ->
  ('a resumer -> 'a option) ->
  'a
(** [wait ~who targets suspend block] is [suspend block]. *)

val operation :
  host:string ->
  Target.t ->
  ('a resumer -> 'a option) ->
  ('a resumer -> 'a option) * (exn option -> unit)
(** {!Waits.operation}, also for a program that traces. It is for operations of
    indirect styles, only while {!Observer.takes_slow_path}. The second function
    is called with the exception of the operation, if it failed. That may be its
    host's cancellation. *)
