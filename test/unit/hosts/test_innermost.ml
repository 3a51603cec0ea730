(* Finds the innermost scheduler in random nests of schedulers of three kinds. The answers
   are compared with the list of running ones. *)

module Innermost = Concord__core__Innermost
module Plugin = Concord__core__Plugin
open Concord_test_support
open Check

type kind = P | Q | Unknown

let name = function P -> "P" | Q -> "Q" | Unknown -> "unknown"

(* --- Schedulers without tasks -------------------------------------------------- *)

let await_p () = ()
let await_q () = ()
let await_of = function P -> await_p | Q -> await_q | Unknown -> fun () -> ()

let preparing kind () =
  Domain_local_await.{ release = ignore; await = await_of kind }

let using kind f =
  Domain_local_await.using ~prepare_for_await:(preparing kind) ~while_running:f

(* As the schedulers of this library do it. [inside] says whether the caller is inside of the
   scheduler that is registered. *)
let ours ~inside kind f =
  Innermost.using
    ~is_inside:(fun _ -> inside)
    ~prepare_for_await:(preparing kind) ~while_running:f

(* Counts how often each kind was asked for the function that suspends tasks of a domain. *)
let asked_p = Atomic.make 0
let asked_q = Atomic.make 0

exception Suspended_on of int

let this_domain () = (Domain.self () :> int)

let () =
  let plug_in kind await asked =
    let on_this_domain () =
      Atomic.incr asked;
      let here = this_domain () in
      Plugin.{ suspend = (fun _ -> raise (Suspended_on here)) }
    in
    Plugin.add ~on_this_domain
      {
        name = name kind;
        sample = Some { release = ignore; await };
        takes_every_effect = false;
        suspend = (fun _ -> assert false);
        protect = (fun _ -> assert false);
        scopes = None;
      }
  in
  plug_in P await_p asked_p;
  plug_in Q await_q asked_q

type answer = { told : string; was_noted : bool }

let find () =
  match Innermost.find () with
  | Nobody -> { told = "nobody"; was_noted = false }
  | Noted plugin -> { told = plugin.name; was_noted = true }
  | Found plugin -> { told = plugin.name; was_noted = false }
  | Trigger _ -> { told = name Unknown; was_noted = false }

let innermost = function [] -> "nobody" | kind :: _ -> name kind
let show running = String.concat " in " (List.map name running @ [ "a thread" ])

(* A note that outlives all schedulers is harmless, because the plug-in's effect is
   unhandled then. *)
let right running { told; was_noted } =
  told = innermost running || (was_noted && running = [])

let check_find running =
  let answer = find () in
  if not (right running answer) then
    Alcotest.failf "%s: %s was %s" (show running) answer.told
      (if answer.was_noted then "noted" else "found");
  if running = [] then begin
    Innermost.forget ();
    let { told; _ } = find () in
    if told <> "nobody" then Alcotest.failf "a thread: %s was found" told
  end

(* --- Random nests ---------------------------------------------------------------- *)

let somebody_asks () =
  ignore (Domain_local_await.prepare_for_await () : Domain_local_await.t)

let rec live ?(pause = ignore) random depth running =
  for _ = 1 to 1 + Random.State.int random 4 do
    pause ();
    match Random.State.int random 6 with
    | 0 -> somebody_asks ()
    | 1 | 2 -> check_find running
    | _ when depth = 0 -> check_find running
    | _ ->
        let kind =
          List.nth [ P; P; P; Q; Unknown ] (Random.State.int random 5)
        in
        using kind (fun () -> live ~pause random (depth - 1) (kind :: running))
  done

let nests place times () =
  for i = 1 to times do
    place (fun () -> live (Race.random i) 5 [])
  done

(* Threads of one domain take turns, each with its own schedulers. *)
let threads_at_once () =
  let live i () =
    for j = 1 to 300 do
      live ~pause:Thread.yield (Race.random ((1000 * i) + j)) 4 []
    done
  in
  let others = List.init 4 (fun i -> thread (live (i + 1))) in
  live 0 ();
  List.iter (fun join -> join ()) others

(* --- Notes ------------------------------------------------------------------------- *)

let noted what =
  ignore (find () : answer);
  yes what (find ()).was_noted

let not_noted what =
  ignore (find () : answer);
  no what (find ()).was_noted

let notes () =
  (* A random nest may have left a note. *)
  Innermost.forget ();
  for _ = 1 to 2 do
    not_noted "no scheduler";
    let is_none_noted () = Innermost.noted () = Some No_scheduler in
    yes "that there is none" (is_none_noted ());
    using P (fun () ->
        no "no longer" (is_none_noted ());
        noted "one scheduler";
        somebody_asks ();
        no "somebody asked" (find ()).was_noted;
        noted "and again";
        using P (fun () -> noted "two of a kind");
        noted "one was left";
        using Unknown (fun () ->
            not_noted "without plug-in";
            using P (fun () -> not_noted "another kind beneath");
            not_noted "without plug-in");
        not_noted "another kind may be beneath");
    using P (fun () -> noted "no scheduler, since");
    Innermost.forget ()
  done;
  using P (fun () ->
      noted "here";
      in_thread (fun () -> not_noted "no scheduler in this thread");
      yes "still" (find ()).was_noted);
  using Q (fun () ->
      in_thread (fun () -> using P (fun () -> check_find [ P ]));
      check_find [ Q ])

(* A note contains the function that suspends tasks of its domain. The plug-in is asked for
   it only once. *)
let suspended_here () =
  match (Concord__core__Reach.noted ()).suspend (fun _ -> None) with
  | () -> Alcotest.fail "nothing suspends the task"
  | exception Suspended_on domain -> int "this domain" (this_domain ()) domain

let on_this_domain () =
  let check () =
    ignore (find () : answer);
    let before = Atomic.get asked_p in
    noted "one scheduler";
    suspended_here ();
    suspended_here ();
    int "asked again" before (Atomic.get asked_p)
  in
  Innermost.forget ();
  using P check;
  using Q (fun () ->
      let before = Atomic.get asked_q in
      noted "another plug-in";
      suspended_here ();
      int "its own function" (before + 1) (Atomic.get asked_q));
  Innermost.forget ();
  in_domain (fun () ->
      check_find [];
      using P check)

(* --- Domains ------------------------------------------------------------------------ *)

(* Tests whether [Domain_local_await] calls back. It does that once it keeps one scheduler
   for each thread. *)
let calls_back () =
  let flag = Innermost.{ up = false; asked = false } in
  Innermost.raise_flag flag;
  flag.up

let prepare_domain ~inside () =
  Innermost.prepare_domain ~is_inside:(fun _ -> inside)

let first_used_inside () =
  in_domain @@ fun () ->
  using P (fun () ->
      using Q (fun () ->
          check_find [ Q; P ];
          prepare_domain ~inside:true ();
          no "not while one is registered" (calls_back ()));
      check_find [ P ];
      not_noted "no calls, no notes");
  check_find [];
  yes "none is registered" (calls_back ());
  using P (fun () -> noted "calls, and notes")

let prepared () =
  in_domain (fun () ->
      Innermost.prepare_domain ~is_inside:(fun _ ->
          Alcotest.fail "no scheduler");
      yes "calls back" (calls_back ()))

(* A thread outside the registered scheduler runs a scheduler of ours. *)
let second_thread () =
  in_domain @@ fun () ->
  using P (fun () ->
      prepare_domain ~inside:true ();
      no "for the first thread" (calls_back ());
      Innermost.prepare_domain ~is_inside:(fun _ -> Alcotest.fail "known");
      in_thread (fun () ->
          prepare_domain ~inside:false ();
          using Q (fun () -> check_find [ Q ]));
      yes "for the second thread" (calls_back ());
      check_find [ P ];
      not_noted "the scheduler beneath is not known")

let second_thread_first () =
  in_domain @@ fun () ->
  using P (fun () ->
      in_thread (prepare_domain ~inside:false);
      yes "at once" (calls_back ());
      check_find [ P ];
      using Q (fun () -> check_find [ Q; P ]);
      check_find [ P ])

(* Of two threads that prepare the domain, the second one finishes first. *)
let both_prepare () =
  in_domain @@ fun () ->
  using P (fun () ->
      Innermost.prepare_domain ~is_inside:(fun _ ->
          in_thread (prepare_domain ~inside:false);
          false);
      yes "calls back" (calls_back ()))

(* --- Schedulers of this library, inside of another one --------------------------- *)

(* The domain has a foreign scheduler, P. A task of it runs one of ours. Meanwhile a second
   thread runs one of ours too. From then on, each thread finds its own, and when ours has
   ended, P. *)
let in_a_pool f () = in_domain (fun () -> using P f)

let ours_does_not_stay =
  in_a_pool @@ fun () ->
  ours ~inside:true Q (fun () ->
      check_find [ Q; P ];
      in_thread (fun () ->
          ours ~inside:false Unknown (fun () -> check_find [ Unknown ]));
      check_find [ Q; P ]);
  yes "for each thread" (calls_back ());
  check_find [ P ];
  ours ~inside:true Q (fun () -> check_find [ Q; P ]);
  check_find [ P ]

let two_of_ours_do_not_stay =
  in_a_pool @@ fun () ->
  ours ~inside:true Q (fun () ->
      ours ~inside:true Unknown (fun () ->
          in_thread (fun () ->
              ours ~inside:false Q (fun () -> check_find [ Q ]));
          check_find [ Unknown; Q; P ]);
      check_find [ Q; P ]);
  check_find [ P ]

(* The scheduler of the second thread is the last one to end. *)
let ours_ends_first =
  in_a_pool @@ fun () ->
  let has_begun = Atomic.make false and is_over = Atomic.make false in
  let join = ref ignore in
  ours ~inside:true Q (fun () ->
      join :=
        thread (fun () ->
            ours ~inside:false Unknown (fun () ->
                Atomic.set has_begun true;
                eventually "the first one is over" (fun () ->
                    check_find [ Unknown ];
                    Atomic.get is_over);
                check_find [ Unknown ]));
      eventually "the second one has begun" (fun () -> Atomic.get has_begun);
      check_find [ Q; P ]);
  check_find [ P ];
  Atomic.set is_over true;
  !join ();
  check_find [ P ]

let ours_fails =
  in_a_pool @@ fun () ->
  raises "the failure" Exit (fun () ->
      ours ~inside:true Q (fun () ->
          in_thread (fun () ->
              ours ~inside:false Unknown (fun () -> check_find [ Unknown ]));
          raise Exit));
  check_find [ P ];
  raises "again" Exit (fun () -> ours ~inside:true Q (fun () -> raise Exit));
  check_find [ P ]

(* A foreign scheduler inside of ours can't be taken out of the domain's record. So the second
   thread's scheduler is not registered, until that one has ended. *)
let foreign_inside_of_ours =
  in_a_pool @@ fun () ->
  ours ~inside:true Q (fun () ->
      using P (fun () ->
          in_thread (fun () -> ours ~inside:false Unknown ignore);
          no "not yet" (calls_back ());
          check_find [ P; Q; P ]);
      check_find [ Q; P ];
      in_thread (fun () ->
          ours ~inside:false Unknown (fun () -> check_find [ Unknown ]));
      yes "now" (calls_back ());
      check_find [ Q; P ]);
  check_find [ P ]

(* Threads that take turns begin and end their schedulers at all moments. *)
let rec live_ours ~pause random depth running =
  for _ = 1 to 1 + Random.State.int random 3 do
    pause ();
    if depth = 0 || Random.State.bool random then check_find running
    else
      let kind = if Random.State.bool random then Q else Unknown in
      ours ~inside:true kind (fun () ->
          live_ours ~pause random (depth - 1) (kind :: running))
  done;
  check_find running

let many_of_ours () =
  for i = 1 to Race.often 30 do
    ( in_a_pool @@ fun () ->
      let pause = Thread.yield in
      let other j () =
        let random = Race.random ((10 * i) + j) in
        ours ~inside:false Unknown (fun () ->
            live_ours ~pause random 3 [ Unknown ])
      in
      let others = List.init 2 (fun j -> thread (other (j + 1))) in
      live_ours ~pause (Race.random (10 * i)) 3 [ P ];
      List.iter (fun join -> join ()) others;
      check_find [ P ] )
      ()
  done

let called_by_others () =
  in_domain @@ fun () ->
  Domain_local_await.per_thread (module Thread);
  check_find [];
  prepare_domain ~inside:true ();
  no "does not call us" (calls_back ());
  using P (fun () -> check_find [ P ]);
  check_find []

let flags () =
  let flag = Innermost.{ up = false; asked = false } in
  Innermost.raise_flag flag;
  yes "up" flag.up;
  using P (fun () ->
      no "a scheduler" flag.up;
      Innermost.raise_flag flag);
  yes "a scheduler was left" flag.up;
  in_thread somebody_asks;
  no "a thread asked" flag.up

let () =
  Printf.printf "CONCORD_SEED=%d\n%!" Race.seed;
  run "Innermost"
    [
      ( "random nests",
        [
          test "main thread" (nests (fun f -> f ()) 2_000);
          test "a thread" (nests in_thread 300);
          test "a domain" (nests in_domain 300);
          test "threads of a domain" threads_at_once;
        ] );
      ( "notes",
        [
          test "are for one kind of scheduler" notes;
          test "suspend the tasks of this domain" on_this_domain;
        ] );
      ( "domains",
        [
          test "first used inside of schedulers" first_used_inside;
          test "prepared before a scheduler" prepared;
          test "prepared for a second thread" second_thread;
          test "prepared for a second thread first" second_thread_first;
          test "prepared by two threads at once" both_prepare;
          test "other code has called per_thread" called_by_others;
          test "flags go down" flags;
        ] );
      ( "ours, inside of another",
        [
          test "it doesn't stay" ours_does_not_stay;
          test "two of them don't stay" two_of_ours_do_not_stay;
          test "it ends first" ours_ends_first;
          test "it fails" ours_fails;
          test "with a foreign one inside" foreign_inside_of_ours;
          test "in threads that take turns" many_of_ours;
        ] );
    ]
