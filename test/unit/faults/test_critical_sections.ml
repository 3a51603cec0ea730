(* If a fault ends a critical section, its caller must get the exception. The waiters must
   enter in turn. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

type _ Effect.t += Nobody : unit Effect.t

(* --- Faults ------------------------------------------------------------------ *)

let rec deep n = 1 + deep (n + 1)

(* Limits the stacks of tasks and threads, so that they overflow soon. *)
let with_small_stacks f =
  let control = Gc.get () in
  Gc.set { control with stack_limit = 200_000 };
  Fun.protect f ~finally:(fun () -> Gc.set control)

let raises = ("an exception", (fun () -> raise Boom), fun e -> e = Boom)

let overflows =
  ( "the stack overflows",
    (fun () -> ignore (Sys.opaque_identity (deep 0) : int)),
    fun e -> e = Stack_overflow )

let performs =
  ( "an unhandled effect",
    (fun () -> Effect.perform Nobody),
    function Effect.Unhandled Nobody -> true | _ -> false )

(* ThreadSanitizer's own stack doesn't grow, so no stack may overflow there. In bytecode, an
   unhandled effect corrupts the heap (ocaml/ocaml#14644). *)
let faults =
  if instrumented then [ raises; performs ]
  else if Sys.backend_type = Native then [ raises; overflows; performs ]
  else [ raises; overflows ]

(* --- Sections ---------------------------------------------------------------- *)

type section = {
  enter : (unit -> unit) -> unit;
  waiters : unit -> int;
  is_free : unit -> bool;
}

let mutex () =
  let t = Mutex.create () in
  {
    enter = (fun f -> Mutex.protect t f);
    waiters = (fun () -> Mutex.waiters t);
    is_free = (fun () -> Mutex.try_lock t);
  }

let writing () =
  let t = Rwlock.create () in
  {
    enter = (fun f -> Rwlock.write t f);
    waiters = (fun () -> Rwlock.waiters t);
    is_free = (fun () -> Rwlock.try_write_lock t);
  }

(* The first task reads, and the others write. *)
let reading () =
  let t = Rwlock.create () and is_first = Atomic.make true in
  {
    enter =
      (fun f ->
        if Atomic.exchange is_first false then Rwlock.read t f
        else Rwlock.write t f);
    waiters = (fun () -> Rwlock.waiters t);
    is_free = (fun () -> Rwlock.try_write_lock t);
  }

let modifying () =
  let t = Mvar.create "as it was" in
  {
    enter =
      (fun f ->
        Mvar.modify t (fun v ->
            f ();
            (v, ())));
    waiters = (fun () -> Mvar.waiters t);
    is_free = (fun () -> Mvar.try_take t = Some "as it was");
  }

let sections =
  [
    ("Mutex.protect", mutex);
    ("Rwlock.write", writing);
    ("Rwlock.read", reading);
    ("Mvar.modify", modifying);
  ]

(* --- Where tasks run --------------------------------------------------------- *)

let places =
  [
    ("a thread", thread);
    ("a domain", domain);
    ("a task of Fifo", fun f -> thread (fun () -> Fifo.run f));
    ( "a task, lazily cancelled",
      fun f -> thread (fun () -> Fifo.run ~cancellation:`Lazy f) );
  ]

let is_told is_fault enter fault =
  match enter fault with
  | () -> failwith "nothing was raised"
  | exception e ->
      if not (is_fault e) then failwith ("raised: " ^ Printexc.to_string e)

let breaks (_, fault, is_fault) make_section start () =
  with_small_stacks @@ fun () ->
  let section = make_section () in
  let entered = Promise.create () and go_on = Promise.create () in
  let culprit =
    start (fun () ->
        is_told is_fault section.enter (fun () ->
            Promise.fill entered ();
            Promise.await go_on;
            fault ()))
  in
  Promise.await entered;
  traced [ "first"; "second" ] (fun say ->
      let follow n name =
        let join = thread (fun () -> section.enter (fun () -> say name)) in
        eventually "it waits" (fun () -> section.waiters () = n);
        join
      in
      let first = follow 1 "first" in
      let second = follow 2 "second" in
      Promise.fill go_on ();
      culprit ();
      first ();
      second ());
  yes "it is free" (section.is_free ())

let suite ((name, _, _) as fault) =
  ( name,
    List.concat_map
      (fun (section, make) ->
        List.map
          (fun (place, start) ->
            test (section ^ " in " ^ place) (breaks fault make start))
          places)
      sections )

let () = run "Faults in critical sections" (List.map suite faults)
