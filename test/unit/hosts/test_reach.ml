open Concord
open Concord.Tools
open Concord_test_support
open Concord_test_hosts
open Check
open Reach_cases
module Fifo = Concord_fifo
module Pool = Domainslib.Task

let pool_task f =
  let pool = Pool.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Pool.teardown_pool pool)
    (fun () -> Pool.run pool f)

let fifo f = Fifo.run f

(* [passing] must be called before each effect is performed. *)
let tells_each () =
  let passed = ref 0 and told = ref 0 in
  let effc (type a) (_ : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    incr passed;
    yes "called before" (!told >= !passed);
    None
  in
  let passing _ = incr told in
  let reach () = ignore (Host_kit.probe { passing } : Host_kit.host) in
  List.iter
    (fun place -> place (fun () -> Effect.Deep.try_with reach () { effc }))
    [
      (fun f -> f ()); fifo; (fun f -> Eio_main.run (fun _ -> f ())); pool_task;
    ];
  yes "some were performed" (!passed >= 4)

(* A scheduler with [Domain_local_await] that blocks its thread and performs no effect. *)
let blocking f =
  let prepare_for_await () =
    let released = Stdlib.Semaphore.Binary.make false in
    Domain_local_await.
      {
        release = (fun () -> Stdlib.Semaphore.Binary.release released);
        await = (fun () -> Stdlib.Semaphore.Binary.acquire released);
      }
  in
  Domain_local_await.using ~prepare_for_await ~while_running:f

let fails_in_blocking () =
  blocking @@ fun () ->
  let t = Lazy.from_fun (fun () -> raise Exit) in
  raises "force" Exit (fun () -> Lazy.force t);
  yes "remembered" (Lazy.peek t = Some (Error Exit));
  let self = ref (Lazy.from_val 0) in
  self := Lazy.from_fun (fun () -> Lazy.force !self);
  raises "recursion" Lazy.Undefined (fun () -> Lazy.force !self)

(* --- A host that performs its effect late ------------------------------------- *)

type _ Effect.t += Wait : unit Effect.t

(* The tasks of this scheduler call [before] between [await] and its effect, as if the
   system had paused them there. They are released meanwhile, so nothing has to resume them. *)
let late ~before f =
  let prepare_for_await () =
    let released = Atomic.make false in
    let await () =
      before (fun () -> Atomic.get released);
      if not (Atomic.get released) then Effect.perform Wait
    in
    Domain_local_await.{ release = (fun () -> Atomic.set released true); await }
  in
  Domain_local_await.using ~prepare_for_await ~while_running:f

let with_handler f =
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    match e with Wait -> Some (fun k -> Effect.Deep.continue k ()) | _ -> None
  in
  Effect.Deep.try_with f () { effc }

(* Waits until the trigger is released, the first time. Later it lets other threads have
   some turns. *)
let overtaken () =
  let first = ref true in
  fun is_released ->
    if !first then begin
      first := false;
      eventually "it is released" is_released
    end
    else
      for _ = 1 to 20 do
        Thread.yield ()
      done

let overtaken_suspends () =
  let host =
    late ~before:(overtaken ()) @@ fun () ->
    with_handler (fun () -> Host_kit.probe { passing = ignore })
  in
  yes "it suspends" (host = Suspends)

(* The caller doesn't run in the scheduler, so the effect is unhandled, even if it comes
   late. *)
let overtaken_elsewhere () =
  no "inside"
    ( late ~before:(overtaken ()) @@ fun () ->
      Concord__core__Probe.is_inside (Domain_local_await.prepare_for_await ())
    );
  yes "inside"
    ( late ~before:(overtaken ()) @@ fun () ->
      with_handler (fun () ->
          Concord__core__Probe.is_inside
            (Domain_local_await.prepare_for_await ())) )

let () =
  run "Suspend: passing the host"
    [
      ( "without a scheduler",
        place "main thread" parks_here (fun f -> f ())
        @ place "thread" parks in_thread
        @ place "domain" parks in_domain
        @ place "thread of Fifo" parks (fun f -> fifo (fun () -> in_thread f))
        @ place "finaliser" parks in_finaliser
        @ [
            test "finaliser in Fifo: suspends nothing"
              (many_times (fun f -> fifo (fun () -> in_finaliser f)));
            test "a scheduler that blocks" (parks_here blocking);
            test "a scheduler that blocks: Lazy" fails_in_blocking;
          ] );
      ( "a host that is late",
        [
          test "it suspends" overtaken_suspends;
          test "it is outside the scheduler" overtaken_elsewhere;
        ] );
      ( "Fifo",
        place "Fifo" suspends fifo
        @ place "lazy" suspends (fun f -> Fifo.run ~cancellation:`Lazy f)
        @ place "by hand" suspends (fun f -> Hand.(result (start f)))
        @ [
            test "cancelled" (cancelled (Cancelling.fifo `Eager));
            test "lazily cancelled" (cancelled (Cancelling.fifo `Lazy));
            test "by hand: cancelled" (cancelled Cancelling.hand);
          ] );
      ("Eio", fiber ~protects:true);
      ( "Domainslib",
        place "a pool" suspends pool_task
        @ place "a pool in Fifo" suspends (fun f ->
            fifo (fun () -> pool_task f))
        @ place "Fifo in a pool" suspends (fun f ->
            pool_task (fun () -> fifo f)) );
      ("effects", [ test "each is announced" tells_each ]);
    ]
