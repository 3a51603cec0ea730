(* The semantics of section 2.1 of the paper, and of what it leaves open, for one style. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Bang

let[@inline never] explode () = if true then raise Boom

module Make (S : Style.S) = struct
  open S

  let run fs =
    List.iter spawn fs;
    start ()

  let rec iter f = function
    | [] -> return ()
    | x :: rest ->
        let* () = f x in
        iter f rest

  let times n f = iter f (List.init n Fun.id)

  (* Lets the other threads run until the condition holds. *)
  let rec until condition =
    if condition () then return ()
    else
      let* () = yield () in
      until condition

  let says say s () =
    say s;
    return ()

  (* Messages in an order that only light threads guarantee. *)
  let in_order expected f =
    if is_light then traced expected f
    else begin
      let said = Atomic.make [] in
      f (fun s -> Concord__core__Atomically.update said (List.cons s));
      strings "said, in any order"
        (List.sort compare expected)
        (List.sort compare (Atomic.get said))
    end

  let nobody_waits what m = int (what ^ ": waiters") 0 (Mvar.waiters m)

  (* A value that is put now reaches the next thread that takes. *)
  let nothing_is_lost m =
    nobody_waits "left" m;
    yes "put" (Mvar.try_put m 99);
    yes "taken" (Mvar.try_take m = Some 99)

  (* The set is clean. A thread that is spawned now runs, and no other thread does. *)
  let clean () = traced [ "again" ] @@ fun say -> run [ says say "again" ]

  (* --- Starting ------------------------------------------------------------- *)

  let nothing_before_start () =
    traced [ "start"; "a"; "end" ] @@ fun say ->
    spawn (says say "a");
    say "start";
    start ();
    say "end"

  let start_order () =
    let names = List.init 40 string_of_int in
    in_order names @@ fun say -> run (List.map (says say) names)

  let start_of_nothing () =
    start ();
    start ();
    run [ return ];
    start ()

  let start_waits_for_all () =
    let ended = Atomic.make 0 and m = Mvar.create_empty () in
    let thread f () =
      let* () = f () in
      Atomic.incr ended;
      return ()
    in
    run
      [
        thread (fun () -> take m);
        thread yield;
        thread skip;
        thread (fun () ->
            let* () = until (fun () -> Mvar.waiters m = 1) in
            put m ());
      ];
    int "ended" 4 (Atomic.get ended)

  let spawned_by_a_thread () =
    in_order [ "a"; "b"; "c"; "a's"; "c's" ] @@ fun say ->
    let spawning name () =
      spawn (says say (name ^ "'s"));
      say name;
      return ()
    in
    run [ spawning "a"; says say "b"; spawning "c" ]

  let generations () =
    let ended = Atomic.make 0 in
    let rec thread n () =
      if n > 0 then spawn (thread (n - 1));
      Atomic.incr ended;
      return ()
    in
    run [ thread 300 ];
    int "ended" 301 (Atomic.get ended)

  let run_after_run () =
    for i = 1 to 20 do
      traced [ string_of_int i ] @@ fun say ->
      run
        [
          (fun () ->
            let* () = yield () in
            says say (string_of_int i) ());
        ]
    done

  (* --- Halting, and taking turns ---------------------------------------------- *)

  let halts () =
    in_order [ "a"; "b"; "end" ] @@ fun say ->
    run
      [
        (fun () ->
          say "a";
          let* () = halt () in
          say "after halt";
          return ());
        (fun () ->
          let* () = yield () in
          says say "b" ());
        (fun () ->
          let* () = yield () in
          let* () =
            let* () = halt () in
            say "after halt, inside";
            return ()
          in
          say "after halt, outside";
          return ());
      ];
    say "end"

  let turns () =
    if is_light then begin
      traced [ "a0"; "b0"; "c0"; "a1"; "b1"; "c1"; "a2"; "b2"; "c2" ]
      @@ fun say ->
      let thread name () =
        times 3 (fun i ->
            say (Printf.sprintf "%s%d" name i);
            yield ())
      in
      run [ thread "a"; thread "b"; thread "c" ]
    end
    else begin
      (* Each thread waits for steps of the other one. *)
      let turn = Atomic.make 0 in
      let player me () =
        times 50 (fun _ ->
            let* () = until (fun () -> Atomic.get turn mod 2 = me) in
            Atomic.incr turn;
            return ())
      in
      run [ player 0; player 1 ];
      int "turns" 100 (Atomic.get turn)
    end

  (* A resumed thread, a spawned one and one that yields continue in the order in which they
     became ready. *)
  let fair () =
    if is_light then
      traced [ "waits"; "acts"; "taken"; "spawned"; "yielded" ] @@ fun say ->
      let m = Mvar.create_empty () in
      run
        [
          (fun () ->
            say "waits";
            let* () = take m in
            says say "taken" ());
          (fun () ->
            say "acts";
            let* () = put m () in
            spawn (says say "spawned");
            let* () = yield () in
            says say "yielded" ());
        ]

  (* --- Boxes ------------------------------------------------------------------- *)

  let rendezvous () =
    let numbers = Mvar.create_empty () and squares = Mvar.create_empty () in
    let sum = ref 0 in
    run
      [
        (fun () -> times 100 (fun i -> put numbers i));
        (fun () ->
          times 100 (fun _ ->
              let* i = take numbers in
              put squares (i * i)));
        (fun () ->
          times 100 (fun _ ->
              let* i = take squares in
              sum := !sum + i;
              return ()));
      ];
    int "sum" 328350 !sum

  (* The paper allows one reader and one writer. *)
  let many_readers () =
    in_order [ "a1"; "b2"; "c3" ] @@ fun say ->
    let m = Mvar.create_empty () in
    let reader name () =
      let* i = take m in
      say
        (if is_light then Printf.sprintf "%s%d" name i
         else name ^ string_of_int i);
      return ()
    in
    let in_turn n f () =
      let* () = until (fun () -> Mvar.waiters m = n) in
      f ()
    in
    run
      [
        reader "a";
        in_turn 1 (reader "b");
        in_turn 2 (reader "c");
        (* Each reader is there before the first value. *)
        in_turn 3 (fun () -> times 3 (fun i -> put m (i + 1)));
      ]

  let many_writers () =
    in_order [ "0"; "1"; "2"; "3" ] @@ fun say ->
    let m = Mvar.create 0 in
    let in_turn n f () =
      let* () = until (fun () -> Mvar.waiters m = n) in
      f ()
    in
    run
      [
        (fun () -> put m 1);
        in_turn 1 (fun () -> put m 2);
        in_turn 2 (fun () -> put m 3);
        in_turn 3 (fun () ->
            times 4 (fun _ ->
                let* i = take m in
                says say (string_of_int i) ()));
      ]

  let fifos () =
    let q = make_fifo () in
    for i = 1 to 3 do
      put_fifo q i
    done;
    traced [ "1"; "2"; "3"; "4"; "5" ] @@ fun say ->
    run
      [
        (fun () ->
          times 5 (fun _ ->
              let* i = take_fifo q in
              says say (string_of_int i) ()));
        (fun () ->
          let* () = until (fun () -> Mailbox.waiters q = 1) in
          put_fifo q 4;
          put_fifo q 5;
          return ());
      ];
    int "length" 0 (Mailbox.length q)

  (* --- Events, and what comes from elsewhere ------------------------------------ *)

  let timeouts () =
    traced [ "other"; "late" ] @@ fun say ->
    run
      [
        (fun () ->
          let* () = sync (Event.timeout 0.05) in
          says say "late" ());
        (fun () ->
          let* () = yield () in
          says say "other" ());
      ]

  let choices () =
    let m = Mvar.create_empty () and said = Mvar.create_empty () in
    let get seconds () =
      let* s =
        sync
          (Event.choose
             [
               Mvar.take_evt m;
               Event.wrap (Event.timeout seconds) (fun () -> "too late");
             ])
      in
      put said s
    in
    let expect expected () =
      let* s = take said in
      Alcotest.(check string) "choice" expected s;
      return ()
    in
    run [ get 0.02; expect "too late" ];
    nobody_waits "after the timeout" m;
    run
      [
        get 1000.;
        (fun () ->
          let* () = until (fun () -> Mvar.waiters m = 1) in
          put m "in time");
        expect "in time";
      ];
    run [ get 1000.; expect "at once"; (fun () -> put m "at once") ];
    int "timeouts" 0 (Concord__core__Timer.pending ());
    raises "an event fails" Boom (fun () ->
        run
          [
            (fun () ->
              let* () =
                sync (Event.wrap (Event.timeout 0.001) (fun () -> raise Boom))
              in
              return ());
          ])

  let filled_from_elsewhere () =
    let boxes = List.init 3 (fun _ -> Mvar.create_empty ())
    and sum = Atomic.make 0 in
    let reader m () =
      let* i = take m in
      ignore (Atomic.fetch_and_add sum i : int);
      return ()
    in
    let fill m () =
      eventually "it waits" (fun () -> Mvar.waiters m = 1);
      Mvar.put m 1
    in
    let fillers =
      match boxes with
      | [ a; b; c ] ->
          [
            thread (fill a);
            domain (fill b);
            thread (fun () ->
                Event.sync (Event.timeout 0.01);
                fill c ());
          ]
      | _ -> assert false
    in
    run (List.map reader boxes);
    List.iter (fun join -> join ()) fillers;
    int "sum" 3 (Atomic.get sum)

  (* --- Stopping ------------------------------------------------------------------ *)

  let stops () =
    let m = Mvar.create_empty ()
    and full = Mvar.create 1
    and q = Mailbox.create () in
    traced [ "stops"; "end" ] @@ fun say ->
    let waits operation () =
      let* _ = operation in
      say "went on";
      return ()
    in
    run
      [
        (fun () -> waits (take m) ());
        (fun () -> waits (put full 2) ());
        (fun () -> waits (take_fifo q) ());
        (fun () ->
          waits (sync (Event.choose [ Mvar.take_evt m; Mvar.take_evt m ])) ());
        (fun () -> waits (sync (Event.timeout 60.)) ());
        (fun () -> waits (direct (fun () -> Mvar.take m)) ());
        (fun () ->
          let* () =
            until (fun () ->
                Mvar.waiters m >= 3
                && Mvar.waiters full = 1
                && Mailbox.waiters q = 1)
          in
          if is_light then spawn (says say "began");
          say "stops";
          let* () = stop () in
          says say "after stop" ());
      ];
    say "end";
    nobody_waits "put" full;
    yes "nothing was put" (Mvar.try_take full = Some 1);
    nothing_is_lost full;
    nothing_is_lost m;
    int "queue: waiters" 0 (Mailbox.waiters q);
    Mailbox.add q 5;
    yes "not lost" (Mailbox.try_take q = Some 5);
    eventually "no timeout is left" (fun () ->
        Concord__core__Timer.pending () = 0);
    clean ()

  let yields_in_vain () =
    begin
      traced [ "stops" ] @@ fun say ->
      let rec forever () =
        let* () = yield () in
        forever ()
      in
      run
        [
          forever;
          forever;
          (fun () ->
            let* () = yield () in
            say "stops";
            stop ());
        ]
    end;
    clean ()

  (* The thread was given a value, and continues with it. *)
  let resumed_before_stop () =
    traced [ "7"; "end" ] @@ fun say ->
    let m = Mvar.create_empty () and never = Mvar.create_empty () in
    run
      [
        (fun () ->
          let* i = take m in
          say (string_of_int i);
          let* () = put m (i + 1) in
          let* () = take never in
          say "went on";
          return ());
        (fun () ->
          let* () = until (fun () -> Mvar.waiters m = 1) in
          let* () = put m 7 in
          stop ());
      ];
    say "end";
    yes "it has put" (Mvar.try_take m = Some 8);
    nobody_waits "never" never;
    clean ()

  (* A value goes to a thread that still waits. *)
  let goes_to_another () =
    let m = Mvar.create_empty () in
    let got = ref 0 in
    let other =
      thread (fun () ->
          eventually "first" (fun () -> Mvar.waiters m = 1);
          got := Mvar.take m)
    in
    run
      [
        (fun () ->
          let* _ = take m in
          Alcotest.fail "it was stopped");
        (fun () ->
          let* () = until (fun () -> Mvar.waiters m = 2) in
          stop ());
      ];
    int "one waits" 1 (Mvar.waiters m);
    Mvar.put m 3;
    other ();
    int "got" 3 !got

  let stop_outside_of_threads () =
    stop_outside ();
    traced [ "new" ] @@ fun say ->
    spawn (says say "old");
    stop_outside ();
    start ();
    run [ says say "new" ]

  let stops_many_times () =
    let m = Mvar.create_empty () in
    for _ = 1 to 50 do
      let waits () =
        let* () = take m in
        return ()
      in
      run
        [
          waits;
          waits;
          (fun () ->
            let* () = until (fun () -> Mvar.waiters m = 2) in
            stop ());
        ];
      nobody_waits "stopped" m
    done

  (* A thread is spawned while another one is unwound. *)
  let spawned_when_stopped () =
    begin
      traced [ "stops" ] @@ fun say ->
      run
        [
          (fun () ->
            direct (fun () ->
                Fun.protect ~finally:(fun () -> spawn (says say "began"))
                @@ fun () ->
                say "stops";
                stop_outside ()));
        ]
    end;
    clean ()

  (* --- Exceptions ------------------------------------------------------------------ *)

  let raising f () = run [ f ]

  let exceptions () =
    raises "at once" Boom
      (raising (fun () ->
           explode ();
           return ()));
    raises "after a yield" Boom
      (raising (fun () ->
           let* () = yield () in
           explode ();
           return ()));
    let m = Mvar.create_empty () in
    let after_a_wait () =
      run
        [
          (fun () ->
            let* () = take m in
            explode ();
            return ());
          (fun () ->
            let* () = until (fun () -> Mvar.waiters m = 1) in
            put m ());
        ]
    in
    raises "after a wait" Boom after_a_wait;
    raises_at "explode" after_a_wait;
    raises_at "explode" (fun () ->
        run
          [
            (fun () ->
              let* () = direct explode in
              return ());
          ]);
    raises "in direct" Boom
      (raising (fun () ->
           direct (fun () ->
               Concord.Tasks.yield ();
               explode ())));
    clean ()

  let others_are_ended () =
    let m = Mvar.create_empty () in
    raises "start" Boom (fun () ->
        run
          [
            (fun () ->
              let* _ = take m in
              Alcotest.fail "it continued");
            (fun () ->
              let* () = until (fun () -> Mvar.waiters m = 1) in
              explode ();
              return ());
          ]);
    nothing_is_lost m;
    clean ()

  let the_first_exception () =
    let m = Mvar.create_empty () in
    raises "start" Boom (fun () ->
        run
          [
            (fun () ->
              direct (fun () -> try Mvar.take m with _ -> raise Bang));
            (fun () ->
              let* () = until (fun () -> Mvar.waiters m = 1) in
              explode ();
              return ());
          ]);
    if is_light then
      traced [ "first" ] (fun say ->
          raises "what was not begun" Boom (fun () ->
              run
                [
                  (fun () ->
                    say "first";
                    explode ();
                    return ());
                  says say "second";
                ]));
    clean ()

  (* --- Sets ------------------------------------------------------------------------ *)

  let refused_inside () =
    match
      run
        [
          (fun () ->
            spawn return;
            start ();
            return ());
        ]
    with
    | () -> Alcotest.fail "it was not refused"
    | exception Invalid_argument text ->
        yes ("it says what: " ^ text) (contains text (name ^ ".start"));
        clean ()

  let outside_of_threads () =
    if is_light then begin
      let refused what f =
        match f () with
        | () -> Alcotest.failf "%s: nothing was raised" what
        | exception Invalid_argument text ->
            yes (what ^ ": the style") (contains text name);
            yes (what ^ ": what to do") (contains text "start")
      in
      refused "yield" yield_outside;
      spawn return;
      refused "yield, before start" yield_outside;
      start ();
      refused "yield, after start" yield_outside
    end;
    (* Operations that don't have to wait need no thread. *)
    let q = make_fifo () and m = Mvar.create_empty () and sum = ref 0 in
    let add n = sum := !sum + n in
    put_fifo q 1;
    int "length" 1 (Mailbox.length q);
    do_outside (take_fifo q) add;
    do_outside (put m 10) (fun () -> add 100);
    do_outside (take m) add;
    int "sum" 111 !sum

  let sets_of_two places () =
    let both_began = Latch.create 2 in
    let ended = Atomic.make 0 and elsewhere = Atomic.make 0 in
    let one () =
      let mine = Thread.id (Thread.self ()) in
      for _ = 1 to 100 do
        spawn (fun () ->
            if Thread.id (Thread.self ()) <> mine then Atomic.incr elsewhere;
            let* () = yield () in
            Atomic.incr ended;
            return ())
      done;
      Latch.count_down both_began;
      Latch.await both_began;
      start ()
    in
    List.map (fun place -> place one) places |> List.iter (fun join -> join ());
    int "ended" 200 (Atomic.get ended);
    if is_light then int "in the other's set" 0 (Atomic.get elsewhere)

  let pending_when_a_thread_ends () =
    in_thread (fun () -> spawn (fun () -> Alcotest.fail "it was started"));
    in_domain (fun () -> spawn (fun () -> Alcotest.fail "it was started"));
    start ();
    clean ()

  (* --- Memory ------------------------------------------------------------------------ *)

  (* When a set is over, the values that only its threads used are garbage. *)
  let nothing_leaks () =
    let m = Mvar.create_empty () and kept = Weak.create 3 in
    let[@inline never] set () =
      let one i () =
        let big = ref (i, [||]) in
        Weak.set kept i (Some big);
        let* () = yield () in
        let* () = take m in
        ignore (Sys.opaque_identity big : (int * int array) ref);
        return ()
      in
      match
        run
          [
            one 0;
            one 1;
            one 2;
            (fun () ->
              let* () = until (fun () -> Mvar.waiters m = 3) in
              stop ());
          ]
      with
      | () -> ()
      | exception Boom -> ()
    in
    set ();
    Gc.full_major ();
    Gc.full_major ();
    for i = 0 to 2 do
      no "kept" (Weak.check kept i)
    done

  let cases =
    [
      ("nothing runs before start", nothing_before_start);
      ("threads begin in order", start_order);
      ("start with nothing to do", start_of_nothing);
      ("start returns when all have ended", start_waits_for_all);
      ("threads spawn threads", spawned_by_a_thread);
      ("generations of threads", generations);
      ("one set after the other", run_after_run);
      ("halt ends", halts);
      ("threads take turns", turns);
      ("first ready, first served", fair);
      ("values go through boxes", rendezvous);
      ("many readers", many_readers);
      ("many writers", many_writers);
      ("fifos", fifos);
      ("a timeout holds up one thread only", timeouts);
      ("choice", choices);
      ("filled by a thread, a domain, in time", filled_from_elsewhere);
      ("stop ends all", stops);
      ("stop ends those that yield", yields_in_vain);
      ("resumed before stop", resumed_before_stop);
      ("a value goes to another one", goes_to_another);
      ("stop outside of threads", stop_outside_of_threads);
      ("stop many times", stops_many_times);
      ("spawned when it was stopped", spawned_when_stopped);
      ("exceptions", exceptions);
      ("an exception ends the others", others_are_ended);
      ("the first exception", the_first_exception);
      ("start in a thread is refused", refused_inside);
      ("operations outside of threads", outside_of_threads);
      ("sets of two threads", sets_of_two [ thread; thread ]);
      ("sets of two domains", sets_of_two [ domain; domain ]);
      ("pending when its thread ends", pending_when_a_thread_ends);
      ("nothing leaks", nothing_leaks);
    ]
    |> List.map (fun (name, case) -> test name case)
end
