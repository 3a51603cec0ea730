open Results
include Lazy_spec

exception Numbered of int

(* The computation receives its result. *)
type t = { value : int Lazy.t; results : result Channel.t }

let create () =
  let results = Channel.create () in
  let compute () =
    match Channel.receive results with
    | Value v -> v
    | Failure n -> raise (Numbered n)
  in
  { value = Lazy.from_fun compute; results }

let shown = function
  | Ok v -> int v
  | Error (Numbered n) -> "raises " ^ int n
  | Error e -> raise e

let await t = Event.wrap (Event.to_result (Lazy.await_evt t.value)) shown

let call t = function
  | Force -> (
      try int (Lazy.force t.value) with Numbered n -> "raises " ^ int n)
  | Await -> Event.sync (await t)
  | Give result ->
      ignore (Channel.try_send t.results result : bool);
      "()"
  | Peek -> Option.fold ~none:"none" ~some:shown (Lazy.peek t.value)
  | Compute | Settle _ | Pass_on -> assert false (* not chosen *)

let event t = function
  | Await -> Some (await t)
  | Force | Give _ | Peek | Compute | Settle _ | Pass_on -> None

let try_call _ _ = None
let waiters t = Lazy.waiters t.value + Channel.waiters t.results
