(** Waits that are kept for reports, told to those who trace the program, or
    both. *)

open Concord_suspend

val wait :
  who:Who.t ->
  Waits.target list ->
  (('a resumer -> 'a option) -> 'a) ->
  ('a resumer -> 'a option) ->
  'a
(** [wait ~who targets suspend block] is [suspend block]. *)

val operation :
  host:string ->
  Waits.target ->
  ('a resumer -> 'a option) ->
  ('a resumer -> 'a option) * (exn option -> unit)
(** {!Waits.operation}, also told to those who trace the program: for operations
    of indirect styles, only while {!Reach.takes_slow_path}. The second function
    is called with what the operation failed with, be it by its host's
    cancellation. *)
