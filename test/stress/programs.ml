(* Random programs of nested scopes, forks, joins, protections, waits and cancellations. Each
   program is one run, while another thread cancels everything again and again. Every run must
   end, and no task may outlive its scope. *)

open Concord
open Concord_test_support.Race
module Fifo = Concord_fifo

exception Boom

let programs = if long then 200_000 else 3_000

type state = {
  random : Random.State.t;
  mutable steps : int;
  mutable alive : int;
  promises : unit Promise.t array;
  boxes : int Mvar.t array;
  mutable handles : Fifo.handle list;
  mutable scopes : Fifo.Scope.t list;
}

let pick t n = Random.State.int t.random n
let one_of t list = List.nth_opt list (pick t (1 + List.length list))

let counted t f () =
  t.alive <- t.alive + 1;
  Fun.protect f ~finally:(fun () -> t.alive <- t.alive - 1)

(* Nothing can be cancelled in [protected] code, so nothing may wait there. *)
let rec step t ~protected depth =
  t.steps <- t.steps - 1;
  match if t.steps > 0 then pick t 14 else 0 with
  | 0 | 1 -> Fifo.yield ()
  | 2 | 3 ->
      let task = counted t (fun () -> steps t ~protected:false depth) in
      t.handles <- Fifo.fork task :: t.handles
  | 4 when depth < 4 -> scope t ~protected (depth + 1)
  | 5 -> Fifo.protect (fun () -> steps t ~protected:true depth)
  | 6 -> Option.iter Fifo.cancel (one_of t t.handles)
  | 7 -> Option.iter Fifo.Scope.cancel (one_of t t.scopes)
  | 8 when not protected -> (
      match one_of t t.handles with
      | Some handle when handle != Fifo.self () -> (
          try Fifo.join handle with Boom -> ())
      | Some _ | None -> ())
  | 9 when pick t 4 = 0 -> raise_notrace Boom
  | 10 -> ignore (Promise.try_fill t.promises.(pick t 4) () : bool)
  | 11 when not protected -> Promise.await t.promises.(pick t 4)
  | 12 -> ignore (Mvar.try_put t.boxes.(pick t 3) 1 : bool)
  | 13 when not protected -> ignore (Mvar.take t.boxes.(pick t 3) : int)
  | _ -> t.promises.(pick t 4) <- Promise.create ()

and steps t ~protected depth =
  for _ = 0 to pick t 6 do
    if t.steps > 0 then step t ~protected depth
  done

and scope t ~protected depth =
  let inside = ref 0 in
  let member () =
    incr inside;
    Fun.protect
      (fun () -> steps t ~protected depth)
      ~finally:(fun () -> decr inside)
  in
  let body scope =
    t.scopes <- scope :: t.scopes;
    ignore (Fifo.fork member : Fifo.handle);
    steps t ~protected depth
  in
  (try Fifo.Scope.run body with Boom -> ());
  if !inside <> 0 then fail "a task outlives its scope"

let run n cancellation =
  let t =
    {
      random = random n;
      steps = 60;
      alive = 0;
      promises = Array.init 4 (fun _ -> Promise.create ());
      boxes = Array.init 3 (fun _ -> Mvar.create_empty ());
      handles = [];
      scopes = [];
    }
  in
  let over = Atomic.make false in
  let rec cancel_all () =
    if not (Atomic.get over) then begin
      Thread.delay 0.0005;
      List.iter Fifo.Scope.cancel t.scopes;
      List.iter Fifo.cancel t.handles;
      cancel_all ()
    end
  in
  let canceller = Thread.create cancel_all () in
  (try Fifo.run ~cancellation (fun () -> scope t ~protected:false 0)
   with Boom | Fifo.Cancelled -> ());
  Atomic.set over true;
  Thread.join canceller;
  if t.alive <> 0 then fail "program %d: a task outlives its run" n

let () =
  watchdog ~seconds:(if long then 3_600. else 60.);
  for n = 1 to programs do
    run n (if n land 1 = 0 then `Lazy else `Eager)
  done;
  Printf.printf "seed %d: %d programs\n" seed programs
