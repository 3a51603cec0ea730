(* A task that has raised asks its host whether it was cancelled. A signal handler raises at
   that moment. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

exception Tick
exception Boom

let never () : unit = Event.sync Event.never
let left = ref 0

(* Interrupts the next [n] suspensions. *)
let interrupt n = left := n

(* Runs [f ()] so that its suspensions can be interrupted, and those of the tasks that it
   forks. *)
let rec interruptible : 'r. (unit -> 'r) -> 'r =
 fun f ->
  let open Effect.Deep in
  let host = Option.get (Host_kit.scopes ()) in
  let scope body =
    host.scope (fun scope ->
        let fork f = scope.fork (fun () -> interruptible f) in
        body { scope with fork })
  in
  let effc (type a) (e : a Effect.t) : ((a, _) continuation -> _) option =
    match e with
    | Suspend.Suspend _ when !left > 0 ->
        Some
          (fun k ->
            decr left;
            discontinue k Tick)
    | Suspend.Scopes ->
        Some (fun (k : (a, _) continuation) -> continue k Suspend.{ scope })
    | _ -> None
  in
  try_with f () { effc }

let place f () =
  interrupt 0;
  Concord_fifo.run (fun () -> interruptible f);
  int "all came" 0 !left

(* --- Cancelled, and interrupted when the task asks -------------------------- *)

let unwound n =
  try never ()
  with e ->
    interrupt n;
    raise e

let timed_out () =
  raises "once" Tick (fun () -> Tasks.with_timeout 0.001 (fun () -> unwound 1));
  raises "twice, the first time in the task" Tick (fun () ->
      Tasks.with_timeout 0.001 (fun () -> try unwound 1 with _ -> raise Tick));
  yes "not interrupted" (Tasks.with_timeout 0.001 (fun () -> unwound 0) = None)

let stopped () =
  let body e scope =
    Scope.fork scope (fun () ->
        Tasks.yield ();
        Scope.cancel scope);
    try never ()
    with cancelled ->
      interrupt 1;
      raise (Option.value e ~default:cancelled)
  in
  raises "the body is cancelled" Tick (fun () -> Scope.run (body None));
  raises "the body fails before" Boom (fun () -> Scope.run (body (Some Boom)));
  raises "the body is interrupted before" Tick (fun () ->
      Scope.run (body (Some Tick)))

(* A signal handler's exception takes precedence over a value. *)
let value () =
  raises "any" Tick (fun () ->
      Tasks.any
        [
          (fun () ->
            Tasks.yield ();
            1);
          (fun () ->
            try
              never ();
              2
            with _ ->
              interrupt 1;
              raise Tick);
        ])

let promise raised =
  let p = ref None in
  Scope.run (fun scope ->
      p :=
        Some
          (Scope.fork_promise scope (fun () ->
               try never ()
               with cancelled ->
                 interrupt 1;
                 raise (Option.value raised ~default:cancelled)));
      Scope.cancel scope);
  Option.get !p

let promises () =
  let is p e = Promise.peek p = Some (Error e) in
  yes "cancelled, then interrupted" (is (promise None) Tick);
  yes "failed, then interrupted" (is (promise (Some Boom)) Boom);
  yes "interrupted twice" (is (promise (Some Tick)) Tick)

(* --- Not cancelled ---------------------------------------------------------- *)

let failed () =
  let fails e () =
    interrupt 1;
    raise e
  in
  raises "failure" Boom (fun () -> Scope.run (fun _ -> fails Boom ()));
  raises "interrupted" Tick (fun () -> Scope.run (fun _ -> fails Tick ()));
  let p = Scope.run (fun scope -> Scope.fork_promise scope (fails Tick)) in
  raises "a promise" Tick (fun () -> Promise.await p);
  let p = Scope.run (fun scope -> Scope.fork_promise scope (fails Boom)) in
  raises "a promise that fails" Boom (fun () -> Promise.await p)

let () =
  run "Tasks that are interrupted when they end"
    [
      ( "Fifo",
        [
          test "a timeout" (place timed_out);
          test "a scope that is cancelled" (place stopped);
          test "a value" (place value);
          test "promises" (place promises);
          test "failures" (place failed);
        ] );
    ]
