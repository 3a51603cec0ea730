type last_fiber = int

(* Not seen by the collector, which would move the closures that it points to:
   nothing may be allocated between [alloc_stack] and [runstack]. *)
type stack

external alloc_stack :
  (unit -> unit) ->
  (exn -> unit) ->
  ('a Effect.t -> ('a, unit) Effect.Deep.continuation -> last_fiber -> unit) ->
  stack = "caml_alloc_stack"

external runstack : stack -> ('x -> unit) -> 'x -> unit = "%runstack"

external reperform :
  'a Effect.t -> ('a, unit) Effect.Deep.continuation -> last_fiber -> unit
  = "%reperform"

external set_field :
  ('a, unit) Effect.Deep.continuation -> int -> last_fiber -> unit
  = "%obj_set_field"

type handler = {
  returned : unit -> unit;
  raised : exn -> unit;
  handles : 'a. 'a Effect.t -> bool;
  performed :
    'a. 'a Effect.t -> ('a, unit) Effect.Deep.continuation -> last_fiber -> unit;
}

let is version = String.starts_with ~prefix:version Sys.ocaml_version
let is_known = List.exists is [ "5.1."; "5.2."; "5.3."; "5.4." ]
let is_5_2 = is "5.2."

(* Before, a continuation had no such field; since, the effect fills it in. *)
let[@inline] accept continuation last_fiber =
  if is_5_2 then set_field continuation 1 last_fiber

(* [reperform] is not called, so that the last fiber does not matter. *)
let run_by_stdlib { returned; raised; handles; performed } f x =
  let effc effect_ =
    if handles effect_ then Some (fun k -> performed effect_ k 0) else None
  in
  Effect.Deep.match_with f x { retc = returned; exnc = raised; effc }

let run handler f x =
  if is_known then
    runstack (alloc_stack handler.returned handler.raised handler.performed) f x
  else run_by_stdlib handler f x
