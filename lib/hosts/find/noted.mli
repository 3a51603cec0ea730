(** Waits that are kept for reports, told to those who trace the program, or
    both. *)

open Concord_suspend

val wait :
  who:Who.t ->
  Waits.place list ->
  (('a resumer -> 'a option) -> 'a) ->
  ('a resumer -> 'a option) ->
  'a
(** [wait ~who places suspend block] is [suspend block]. *)

val operation :
  host:string ->
  Waits.place ->
  ('a resumer -> 'a option) ->
  ('a resumer -> 'a option) * (exn option -> unit)
(** {!Waits.operation}, also told to those who trace the program: for operations
    of indirect styles, only while {!Reach.needs_care}. The second function is
    called with what the operation failed with, be it by its host's
    cancellation. *)
