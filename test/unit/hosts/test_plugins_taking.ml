(* A scheduler that takes every effect. An effect that it doesn't know ends it. *)

open Concord
open Concord.Tools
open Concord_test_support
open Concord_test_hosts
open Check
open Plugin_cases

module T =
  Foreign.Make
    (struct
      let name = "t"
      let takes_every_effect = true
    end)
    ()

module A =
  Foreign.Make
    (struct
      let name = "a"
      let takes_every_effect = false
    end)
    ()

let hosts =
  host "t" T.run_registered ~all:T.all
  :: host "a" A.run_registered ~all:A.all
  :: known_hosts

(* Inside this scheduler, a handler is found only if it is registered. *)
let handler_in_t () =
  T.run_registered @@ fun () ->
  let host = Host_kit.create () in
  let effc (type a) (e : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    match e with
    | Suspend.Suspend block ->
        Some
          (fun k ->
            let resume = function
              | Ok v ->
                  Effect.Deep.continue k v;
                  true
              | Error _ -> false
            in
            match block resume with
            | None -> ()
            | Some v -> Effect.Deep.continue k v)
    | _ -> None
  in
  let found = ref 0 in
  let task () = found := Suspend.suspend (fun _ -> Some 7) in
  Host_kit.using host (fun () -> Effect.Deep.try_with task () { effc });
  int "found" 7 !found

let handlers_elsewhere =
  let within { name; place; _ } =
    test ("a handler in " ^ name) (fun () ->
        place (fun () ->
            mini waits;
            waits ()))
  in
  List.filter_map
    (fun host -> if host.name = "t" then None else Some (within host))
    hosts

(* [t] isn't registered here, but a host inside of it must still be found. *)
let unregistered =
  let within { name; place; _ } =
    test (name ^ " in t, which is not registered") (fun () ->
        T.run (fun () ->
            place waits;
            waits ()))
  in
  List.filter_map
    (fun host -> if host.name = "Fifo" then Some (within host) else None)
    hosts

let in_t (host : Cancelling.host) =
  { host with run = (fun f -> T.run_registered (fun () -> host.run f)) }

(* The scheduler runs on a domain that was spawned in its task, where it isn't registered. *)
let in_a_domain_of_its_own () =
  T.run_registered @@ fun () ->
  in_domain (fun () ->
      T.run (fun () ->
          waits ();
          List.iter (fun { place; _ } -> place waits) hosts;
          waits ()))

let threads () =
  T.run_registered (fun () ->
      in_thread waits;
      in_thread (fun () -> eio waits);
      in_thread (fun () -> fifo waits);
      waits ());
  in_thread (fun () -> T.run waits)

let users_of_domain_local_await () =
  T.run_registered @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  T.all [ t.await; t.release ]

(* A value that another task forces at the moment must not count as one that needs itself. *)
let lazy_of_another_task () =
  T.run @@ fun () ->
  let gate = Promise.create () in
  let x = Lazy.from_fun (fun () -> Promise.await gate) in
  let y = Lazy.from_fun (fun () -> Lazy.force x + 1) in
  let got = ref [] in
  let force t () =
    let v = Lazy.force t in
    got := v :: !got
  in
  T.all [ force x; force y; force y; force x; (fun () -> Promise.fill gate 1) ];
  yes "all have it" (List.sort compare !got = [ 1; 1; 2; 2 ])

(* Effects in a function of a promise must not reach the scheduler, because they would end
   it. *)
let in_a_function_of_a_promise () =
  let refused what f =
    match Promise.peek (Promise.map f (Promise.of_value ())) with
    | Some (Error (Invalid_argument text)) ->
        yes what (contains text "Promise.on_resolve")
    | Some _ | None -> Alcotest.failf "%s: it is not refused" what
  in
  let all_refused () =
    refused "wait" (fun () -> Promise.await (Promise.create ()));
    refused "yield" T.yield;
    refused "scope" (fun () ->
        Scope.run (fun _ -> Promise.await (Promise.create ())));
    waits ()
  in
  T.run all_refused;
  T.run_registered all_refused;
  T.run_registered (fun () -> eio all_refused);
  T.run_registered (fun () -> fifo all_refused)

(* Waits make weak pointers only if reports are switched on. A weak pointer is allocated in
   the major heap, so it would be counted here. *)
let no_pointers () =
  T.run @@ fun () ->
  let box = Mvar.create_empty () and n = 1_000 in
  let in_major_heap () =
    let _, promoted, major = Gc.counters () in
    major -. promoted
  in
  let before = in_major_heap () in
  let put () =
    for i = 1 to n do
      Mvar.put box i
    done
  and take () =
    for _ = 1 to n do
      ignore (Event.select [ Mvar.take_evt box; Event.never ] : int)
    done
  in
  T.all [ put; take ];
  if not Check.debugged then
    yes "no word for each wait" (in_major_heap () -. before < float n)

(* --- Names of tasks ------------------------------------------------------------ *)

let host () = (Concord__diagnosis.Identify.task ()).host
let waker () = (Concord__diagnosis.Identify.waker ()).host
let is what expected actual = Alcotest.(check string) what expected actual

(* The names of tasks with no scheduler that takes every effect around them. *)
let names_elsewhere () =
  is "thread" "" (host ());
  fifo (fun () ->
      is "Fifo" "fifo" (host ());
      is "Fifo, waking" "fifo" (waker ()));
  eio (fun () ->
      is "Eio" "eio" (host ());
      is "Eio, waking" "eio" (waker ()));
  A.run_registered (fun () ->
      is "a" "a" (host ());
      is "a, waking" "a" (waker ()))

(* No effect of the library may reach [t]. So inside of it, a task of Fifo has only a
   general name. *)
let names_in_t () =
  names_elsewhere ();
  T.run_registered (fun () ->
      is "t" "t" (host ());
      is "t, waking" "t" (waker ());
      fifo (fun () ->
          is "Fifo" "a scheduler" (host ());
          is "Fifo, waking" "a scheduler" (waker ()));
      eio (fun () -> is "Eio" "eio" (host ()));
      A.run_registered (fun () -> is "a" "a" (host ())));
  T.run (fun () ->
      is "t, not registered" "t" (host ());
      is "t, not registered, waking" "a scheduler" (waker ()));
  names_elsewhere ()

(* The only sign that a task has ended and must not perform effects any longer. *)
exception Gone

let () = Concord__core__Plugin.add_end_of_task (fun () e -> e == Gone)

let ended_by_an_exception () =
  let effects = ref 0 in
  let effc (type a) (_ : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    incr effects;
    None
  in
  T.run @@ fun () ->
  let force ends =
    let t = Lazy.from_fun (fun () -> raise ends) in
    (try Effect.Deep.try_with Lazy.force t { effc }
     with e -> yes "its exception" (e = ends));
    Lazy.peek t
  in
  yes "not forced" (force Gone = None);
  if not Check.debugged then int "no effect" 0 !effects;
  yes "forced" (force Exit = Some (Error Exit));
  yes "effects" (!effects > 0)

let () =
  run "Plug-ins, one of which takes every effect"
    [
      ("reaching t", Reach_cases.(place "t" suspends T.run));
      ( "reaching t in Eio",
        Reach_cases.(
          place "t" suspends (fun f -> eio (fun () -> T.run_registered f))) );
      ( "reaching Eio in t",
        Reach_cases.(
          place "Eio" suspends (fun f -> T.run_registered (fun () -> eio f))) );
      ( "tasks of t",
        [
          test "cancelled" (Reach_cases.cancelled T.cancelling);
          test "siblings" (fun () -> T.run (siblings T.all));
          test "a task of Fifo in t, cancelled"
            (Reach_cases.cancelled (in_t (Cancelling.fifo `Eager)));
          test "a fiber of Eio in t, cancelled"
            (Reach_cases.cancelled (in_t (Cancelling.eio ~protects:true)));
          test "a registered handler" handler_in_t;
          test "a domain of its own" in_a_domain_of_its_own;
          test "threads beside" threads;
          test "users of Domain_local_await" users_of_domain_local_await;
          test "a lazy value of another task" lazy_of_another_task;
          test "a function of a promise" in_a_function_of_a_promise;
          test "waits make no weak pointers" no_pointers;
          test "names" names_in_t;
          test "ended by an exception" ended_by_an_exception;
        ] );
      Lazy_policies.suite "Lazy in t" T.cancelling;
      ("Lazy in t, undefined", Lazy_undefined.within T.run);
      ( "Lazy in t, tasks",
        Lazy_undefined.among (fun fs -> T.run (fun () -> T.all fs)) );
      ("Lazy in a thread beside it", Lazy_undefined.within in_thread);
      ("Lazy in Fifo beside it", Lazy_undefined.within fifo);
      ( "Lazy in Fifo in t",
        Lazy_undefined.within (fun f -> T.run (fun () -> fifo f)) );
      ( "Lazy in Eio in t",
        Lazy_undefined.within (fun f -> T.run_registered (fun () -> eio f)) );
      ("nested", nested hosts);
      ("a handler elsewhere", handlers_elsewhere);
      ("not registered", unregistered);
    ]
