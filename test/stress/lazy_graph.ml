(* Graphs of lazy values that need each other, and the tasks that force them. *)

open Concord
open Concord.Tools
open Concord_test_support.Race
open Crew

exception Refused of int

type step =
  | Pause
  | Lock of int
  | Gate of int  (** Waits for a promise. *)
  | Need of { other : int; watched : bool; caught : bool }
      (** [watched]: first waits a moment, in case others compute it. [caught]:
          continues if it failed. *)
  | Refuse

(* The fields that aren't atomic are used only by the computing task, and at rest. *)
type node = {
  number : int;
  cancel : Lazy.cancel;
  steps : step list;
  inside : int Atomic.t;
  mutable started : int;
  mutable returned : int;
  mutable got : (int * (int, exn) result) list;
      (** The results of the values that the last run needed, latest first. *)
  domain : int Atomic.t;  (** The domain of the last run. *)
}

(* A value whose computation continues after all tasks that could be cancelled were cancelled. *)
type held = {
  value : unit Lazy.t;
  stayed : Latch.t;  (** Opened by all tasks that will be cancelled. *)
  release : unit Promise.t;
}

type graph = {
  nodes : node array;
  values : int Lazy.t array;
  mutexes : Mutex.t array;
  gates : unit Promise.t array;
  held : held option;
  reaches : bool array array;
      (** [reaches.(i).(j)] says whether value [i] needs value [j], directly or
          not. *)
}

let is_cancellation = function
  | Fifo.Cancelled | Eio.Cancel.Cancelled _ | Workers.Cancelled -> true
  | _ -> false

(* --- Asking ------------------------------------------------------------------ *)

(* Lets other tasks run, on any host. *)
let pause () =
  Suspend.suspend (fun resume ->
      ignore (resume (Ok ()) : bool);
      None)

let same a b =
  match (a, b) with
  | Ok v, Ok w -> v = w
  | Error e, Error e' -> e == e'
  | Ok _, Error _ | Error _, Ok _ -> false

let remembers t answer =
  match Lazy.peek t with None -> false | Some seen -> same seen answer

let show = function Ok v -> string_of_int v | Error e -> Printexc.to_string e

(* [answer t want] is the result of [want ()] for [t], which [t] must remember. The only
   exception that it doesn't remember is that of a cancelled task. Every suspension of such a
   task raises, and so does this function. *)
let answer ?(may_be_undefined = false) t want =
  let told = match want () with v -> Ok v | exception e -> Error e in
  match told with
  | Error Lazy.Undefined when may_be_undefined -> told
  | told when remembers t told -> told
  | Ok _ -> fail "%s was returned, but is not remembered" (show told)
  | Error _ ->
      pause ();
      fail "%s was returned, but is not remembered" (show told)

let moment = 0.000_2

let watch_or_force t () =
  Event.select
    [
      Lazy.await_evt t;
      Event.wrap (Event.timeout moment) (fun () -> Lazy.force t);
    ]

let ask crew g =
  let t = any crew g.values in
  let ask want = ignore (answer t want : (int, exn) result) in
  match Random.State.int crew.random 8 with
  | 0 -> ask (fun () -> -Lazy.force (Lazy.map ( ~- ) t))
  | 1 -> ask (watch_or_force t)
  | 2 -> (
      let u = any crew g.values in
      let watch t = Event.wrap (Lazy.await_evt t) (fun v -> (t, v)) in
      match Event.sync_before moment (Event.choose [ watch t; watch u ]) with
      | None -> ()
      | Some (t, v) ->
          if not (remembers t (Ok v)) then fail "an event gave another value"
      | exception e ->
          if not (remembers t (Error e) || remembers u (Error e)) then raise e)
  | _ -> ask (fun () -> Lazy.force t)

(* --- Computing --------------------------------------------------------------- *)

let restarts = Atomic.make 0
let recorded = Atomic.make 0

(* The number of cycles that spanned two domains. *)
let across = Atomic.make 0
let undefined = Atomic.make 0
let this_domain () = (Domain.self () :> int)

let note_undefined g other =
  if not (remembers g.values.(other) (Error Lazy.Undefined)) then begin
    Atomic.incr undefined;
    if Atomic.get g.nodes.(other).domain <> this_domain () then
      Atomic.incr across
  end

let need g node ~watched ~caught other =
  let t = g.values.(other) in
  let want = if watched then watch_or_force t else fun () -> Lazy.force t in
  let may_be_undefined = g.reaches.(other).(node.number) in
  let told =
    match answer ~may_be_undefined t want with
    | told -> told
    | exception e ->
        node.got <- (other, Error e) :: node.got;
        raise e
  in
  node.got <- (other, told) :: node.got;
  match told with
  | Ok v -> v
  | Error Lazy.Undefined ->
      note_undefined g other;
      if caught then 0 else raise Lazy.Undefined
  | Error (Refused _) when caught -> 0
  | Error e -> raise e

let step g node = function
  | Pause ->
      pause ();
      0
  | Lock i ->
      Mutex.protect g.mutexes.(i) pause;
      0
  | Gate i ->
      Promise.await g.gates.(i);
      0
  | Need { other; watched; caught } -> need g node ~watched ~caught other
  | Refuse -> raise (Refused node.number)

let compute g node () =
  if Atomic.fetch_and_add node.inside 1 > 0 then fail "two compute one value";
  Fun.protect ~finally:(fun () -> Atomic.decr node.inside) @@ fun () ->
  if Option.is_some (Lazy.peek g.values.(node.number)) || node.returned > 0 then
    fail "a finished value is computed again";
  if node.started > 0 && node.cancel <> `Restart then
    fail "a computation is restarted, but must not be";
  node.started <- node.started + 1;
  node.got <- [];
  Atomic.set node.domain (this_domain ());
  let add sum s = sum + step g node s in
  let v = List.fold_left add (node.number + 1) node.steps in
  node.returned <- node.returned + 1;
  v

(* --- Graphs ------------------------------------------------------------------ *)

let graph_random = random (-1)
let below n = Random.State.int graph_random n
let one_in n = below n = 0
let n_gates = 3
let n_mutexes = 2

let random_steps ~needs =
  let one _ =
    match below 8 with
    | 0 | 1 -> Pause
    | 2 -> Lock (below n_mutexes)
    | 3 -> Gate (below n_gates)
    | 4 -> if one_in 4 then Refuse else Pause
    | _ -> (
        match needs () with
        | None -> Pause
        | Some other -> Need { other; watched = one_in 4; caught = one_in 4 })
  in
  List.init (1 + below 5) one

let any_policy () : Lazy.cancel =
  match below 4 with 0 -> `Record | 1 -> `Protect | _ -> `Restart

let closure n needs =
  let reaches = Array.init n (fun i -> Array.init n (needs i)) in
  for k = 0 to n - 1 do
    for i = 0 to n - 1 do
      for j = 0 to n - 1 do
        if reaches.(i).(k) && reaches.(k).(j) then reaches.(i).(j) <- true
      done
    done
  done;
  reaches

let tasks = 6

let held () =
  let release = Promise.create () in
  {
    value = Lazy.from_fun (fun () -> Promise.await release);
    stayed = Latch.create (2 * tasks);
    release;
  }

(* [needs n i] is the number of a value that value [i] of [n] may need. *)
let random_graph needs =
  let n = 2 + below 9 in
  let node number =
    {
      number;
      cancel = any_policy ();
      steps = random_steps ~needs:(fun () -> needs n number);
      inside = Atomic.make 0;
      started = 0;
      returned = 0;
      got = [];
      domain = Atomic.make (-1);
    }
  in
  let nodes = Array.init n node in
  let is_needed i j =
    List.exists
      (function Need { other; _ } -> other = j | _ -> false)
      nodes.(i).steps
  in
  let g =
    {
      nodes;
      values = Array.make n (Lazy.from_val 0);
      mutexes = Array.init n_mutexes (fun _ -> Mutex.create ());
      gates = Array.init n_gates (fun _ -> Promise.create ());
      held = (if one_in 8 then Some (held ()) else None);
      reaches = closure n is_needed;
    }
  in
  let value node = Lazy.from_fun ~cancel:node.cancel (compute g node) in
  Array.iteri (fun i node -> g.values.(i) <- value node) nodes;
  g

let acyclic _ i = if i = 0 then None else Some (below i)
let cyclic n _ = Some (below n)
