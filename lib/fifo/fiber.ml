(* The primitives below are Stdlib's own, with the types that its module [Effect] gives
   them. They are used with the released versions in which they are known to be the
   same, and only if [check] finds that they do what they should. A fork of the compiler
   has another version, and may have other primitives of the same names. *)

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

let no_handler =
  {
    returned = ignore;
    raised = raise;
    handles = (fun _ -> false);
    performed = reperform;
  }

let is_of version = String.starts_with ~prefix:version Sys.ocaml_version

let is_release =
  String.for_all
    (function '0' .. '9' | '.' -> true | _ -> false)
    Sys.ocaml_version

let is_known_version =
  is_release && List.exists is_of [ "5.1."; "5.2."; "5.3."; "5.4." ]

(* Only in 5.2 the handler has to store the last fiber in the continuation, which has a
   field for it. Before, there was no such field; since, the effect fills it in. *)
let stores_last_fiber = is_known_version && is_of "5.2."

let[@inline] accept continuation last_fiber =
  if stores_last_fiber then set_field continuation 1 last_fiber

let[@inline] run_by_primitives handler f x =
  runstack (alloc_stack handler.returned handler.raised handler.performed) f x

(* [reperform] is not called, so that the last fiber does not matter. *)
let run_by_stdlib { returned; raised; handles; performed } f x =
  let effc effect_ =
    if handles effect_ then Some (fun k -> performed effect_ k 0) else None
  in
  Effect.Deep.match_with f x { retc = returned; exnc = raised; effc }

(* --- Checking --------------------------------------------------------------- *)

module Checked = struct
  type _ Effect.t += Handled : int Effect.t | Passed_on : int Effect.t

  exception Raised

  let handles (type a) (effect_ : a Effect.t) =
    match effect_ with Handled -> true | _ -> false

  let performed (type a) (effect_ : a Effect.t)
      (k : (a, unit) Effect.Deep.continuation) last_fiber =
    match effect_ with
    | Handled ->
        accept k last_fiber;
        Effect.Deep.continue k 1
    | _ -> reperform effect_ k last_fiber

  let around (type a) (effect_ : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    match effect_ with
    | Passed_on -> Some (fun k -> Effect.Deep.continue k 2)
    | _ -> None
end

let check (run : handler -> (unit -> unit) -> unit -> unit) =
  let open Checked in
  let seen = ref [] in
  let see what = seen := what :: !seen in
  let returned () = see 3 in
  let raised = function Raised -> see 4 | _ -> () in
  let handler = { returned; raised; handles; performed } in
  let returns () =
    see (Effect.perform Handled);
    see (Effect.perform Passed_on)
  in
  let tasks () =
    run handler returns ();
    run handler (fun () -> raise Raised) ()
  in
  match Effect.Deep.try_with tasks () { effc = around } with
  | () -> List.rev !seen = [ 1; 2; 3; 4 ]
  | exception _ -> false

let is_known = is_known_version && check run_by_primitives

let run handler f x =
  if is_known then run_by_primitives handler f x else run_by_stdlib handler f x
