(* Loops of schedulers inside tasks of other schedulers, in every order. Each task waits for
   its siblings before, around and after the inner loop. If it were mistaken for a task of
   another loop, its siblings couldn't run meanwhile, and it would wait forever. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo
module Pool = Domainslib.Task

(* [run f] starts a loop, and calls [f ~wait] in one of its tasks. [wait] waits for a
   sibling of that task. *)
type layer = { name : string; run : (wait:(unit -> unit) -> unit) -> unit }

let eio =
  let wait () =
    let p = Promise.create () in
    Eio.Fiber.both (fun () -> Promise.await p) (fun () -> Promise.fill p ())
  in
  { name = "Eio"; run = (fun f -> Eio_main.run (fun _ -> f ~wait)) }

let fifo =
  let wait () =
    let p = Promise.create () in
    ignore (Fifo.fork (fun () -> Promise.await p) : Fifo.handle);
    Promise.fill p ();
    Fifo.yield ()
  in
  { name = "Fifo"; run = (fun f -> Fifo.run (fun () -> f ~wait)) }

(* The pool has only the caller's domain. *)
let pool =
  let run f =
    let pool = Pool.setup_pool ~num_domains:0 () in
    Fun.protect ~finally:(fun () -> Pool.teardown_pool pool) @@ fun () ->
    let wait () =
      let p = Promise.create () in
      let other = Pool.async pool (fun () -> Promise.fill p ()) in
      Promise.await p;
      Pool.await pool other
    in
    Pool.run pool (fun () -> f ~wait)
  in
  { name = "pool"; run }

let plain =
  let wait () =
    let p = Promise.create () in
    beside
      (fun () ->
        eventually "it waits" (fun () -> Promise.waiters p = 1);
        Promise.fill p ())
      (fun () -> Promise.await p)
  in
  fun place f -> place (fun () -> f ~wait)

let a_thread = { name = "thread"; run = plain in_thread }
let a_domain = { name = "domain"; run = plain in_domain }

(* All stacks of up to [depth] of [layers], outermost first. *)
let rec stacks layers depth =
  if depth = 0 then [ [] ]
  else
    let inner = stacks layers (depth - 1) in
    [] :: List.concat_map (fun l -> List.map (List.cons l) inner) layers

(* The bits of [early] select the levels that wait before they start the inner loop. So the
   library is used first at any level. *)
let rec descend early = function
  | [] -> ()
  | layer :: inner ->
      layer.run @@ fun ~wait ->
      if early land 1 = 1 then wait ();
      for _ = 1 to 2 do
        descend (early lsr 1) inner;
        wait ();
        Suspend.protect wait
      done

let in_every_order layers depth place () =
  let check stack =
    for early = 0 to (1 lsl List.length stack) - 1 do
      place (fun () -> descend early stack)
    done
  in
  List.iter check (stacks layers depth)

let loops = [ eio; fifo; pool ]

(* Another thread runs a loop of its own while the first loop waits. *)
let beside_another layer () =
  in_domain @@ fun () ->
  layer.run @@ fun ~wait ->
  wait ();
  let running = Atomic.make false and over = Atomic.make false in
  let other =
    thread (fun () ->
        Fifo.run (fun () ->
            Atomic.set running true;
            eventually "it is over" (fun () -> Atomic.get over));
        fifo.run (fun ~wait -> wait ()))
  in
  eventually "the other loop runs" (fun () -> Atomic.get running);
  wait ();
  Atomic.set over true;
  other ();
  wait ()

(* The first loop existed before the library was used on its domain. It ends while the other
   thread's loop runs. [inside] starts a loop inside the first one. *)
let left_by_another inside layer () =
  in_domain @@ fun () ->
  let running = Atomic.make false and left = Atomic.make false in
  let other = ref ignore in
  layer.run (fun ~wait:_ ->
      inside @@ fun () ->
      other :=
        thread (fun () ->
            fifo.run @@ fun ~wait ->
            Atomic.set running true;
            eventually "the first loop is left" (fun () -> Atomic.get left);
            wait ();
            Suspend.protect wait);
      eventually "the other loop runs" (fun () -> Atomic.get running));
  Atomic.set left true;
  !other ();
  (plain (fun f -> f ())) (fun ~wait -> wait ())

let suites =
  [
    ( "nested in every order",
      [
        test "main thread" (in_every_order loops 3 (fun f -> f ()));
        test "a thread" (in_every_order loops 3 in_thread);
        test "a domain" (in_every_order loops 3 in_domain);
        (* A domain takes some time to end after its second thread, so fewer levels are
           tested. *)
        test "a thread of a domain"
          (in_every_order loops 2 (fun f -> in_domain (fun () -> in_thread f)));
        test "with threads and domains in between"
          (in_every_order ([ a_thread; a_domain ] @ loops) 2 (fun f -> f ()));
      ] );
    ( "beside Fifo in a thread of the same domain",
      List.map (fun layer -> test layer.name (beside_another layer)) loops );
    ( "left while Fifo runs in a thread of the same domain",
      List.map
        (fun layer -> test layer.name (left_by_another (fun f -> f ()) layer))
        loops
      @ List.map
          (fun layer ->
            test ("Fifo in " ^ layer.name) (left_by_another Fifo.run layer))
          loops );
  ]
