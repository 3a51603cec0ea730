(* The special properties of threads in direct style. Their stacks are unwound, and any
   suspending function may be called in them. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

exception Boom

let[@inline never] explode () = if true then raise Boom

module Make (D : Concord_styles.Direct) = struct
  open D

  let run fs =
    List.iter spawn fs;
    start ()

  let rec until condition =
    if not (condition ()) then begin
      yield ();
      until condition
    end

  let waits m () = until (fun () -> Mvar.waiters m = 1)

  (* --- Unwinding ---------------------------------------------------------------- *)

  (* [f] ends a thread that has a finaliser. *)
  let unwound f () =
    traced [ "finaliser" ] @@ fun say ->
    run
      [
        (fun () ->
          Fun.protect ~finally:(fun () -> say "finaliser") (fun () -> f say));
      ]

  let halt_unwinds =
    unwound (fun say ->
        halt ();
        say "after halt")

  let stop_unwinds =
    unwound (fun say ->
        stop ();
        say "after stop")

  (* [f m] ends the set while another thread waits in [m]. *)
  let other_unwound f () =
    let m = Mvar.create_empty () in
    begin
      traced [ "finaliser" ] @@ fun say ->
      run
        [
          (fun () ->
            Fun.protect
              ~finally:(fun () -> say "finaliser")
              (fun () -> take_mvar m);
            say "went on");
          (fun () ->
            waits m ();
            f ());
        ]
    end;
    int "waiters" 0 (Mvar.waiters m)

  let yielding_unwound () =
    traced [ "finaliser" ] @@ fun say ->
    run
      [
        (fun () ->
          Fun.protect ~finally:(fun () -> say "finaliser") @@ fun () ->
          while true do
            yield ()
          done);
        (fun () ->
          yield ();
          stop ());
      ]

  (* A finaliser may wait if it is protected. Otherwise the exception is raised again there. *)
  let finalisers_wait () =
    traced [ "told again"; "protected"; "waited" ] @@ fun say ->
    let m = Mvar.create_empty () in
    run
      [
        (fun () ->
          try take_mvar m
          with _ ->
            (try take_mvar m with _ -> say "told again");
            Suspend.protect (fun () ->
                say "protected";
                Event.sync (Event.timeout 0.01);
                Concord.Tasks.yield ();
                say "waited");
            ignore (Event.sync (Event.timeout 60.) : unit);
            say "went on");
        (fun () ->
          waits m ();
          stop ());
      ]

  let protect_defers () =
    let m = Mvar.create_empty () in
    begin
      traced [ "stops"; "5"; "cancelled" ] @@ fun say ->
      run
        [
          (fun () ->
            Suspend.protect (fun () -> say (string_of_int (take_mvar m)));
            if Suspend.is_cancelled () then say "cancelled";
            yield ();
            say "went on");
          (fun () ->
            waits m ();
            Fun.protect stop ~finally:(fun () ->
                say "stops";
                put_mvar m 5));
        ]
    end;
    yes "taken" (Mvar.is_empty m)

  (* Another domain fills it, long after the others have ended. *)
  let protected_for_long () =
    let m = Mvar.create_empty () and stopped = Promise.create () in
    let fill =
      domain (fun () ->
          Promise.await stopped;
          Event.sync (Event.timeout 0.02);
          Mvar.put m 5)
    in
    begin
      traced [ "5" ] @@ fun say ->
      run
        [
          (fun () ->
            Suspend.protect (fun () -> say (string_of_int (take_mvar m))));
          (fun () ->
            waits m ();
            Fun.protect stop ~finally:(Promise.fill stopped));
        ]
    end;
    fill ()

  let nested_protect () =
    let m = Mvar.create_empty () in
    traced [ "inner"; "outer"; "ended" ] @@ fun say ->
    run
      [
        (fun () ->
          Fun.protect ~finally:(fun () -> say "ended") @@ fun () ->
          Suspend.protect (fun () ->
              Suspend.protect (fun () -> take_mvar m);
              say "inner";
              Concord.Tasks.yield ();
              say "outer");
          take_mvar m);
        (fun () ->
          waits m ();
          Fun.protect stop ~finally:(fun () -> put_mvar m ()));
      ]

  let exceptions_in_finalisers () =
    let m = Mvar.create_empty () in
    (* An exception after the stop is dropped. *)
    run
      [
        (fun () -> try take_mvar m with _ -> explode ());
        (fun () ->
          waits m ();
          stop ());
      ];
    raises "a thread's own" Boom (fun () ->
        run [ (fun () -> try halt () with _ -> explode ()) ])

  (* A thread that refuses to end gets the exception each time it waits. *)
  let insists () =
    let m = Mvar.create_empty () and told = ref 0 in
    run
      [
        (fun () ->
          for _ = 1 to 10 do
            try take_mvar m with _ -> incr told
          done;
          for _ = 1 to 10 do
            try yield () with _ -> incr told
          done);
        (fun () ->
          waits m ();
          stop ());
      ];
    int "told" 20 !told

  let suite =
    [
      test "halt unwinds" halt_unwinds;
      test "stop unwinds the caller" stop_unwinds;
      test "stop unwinds those that wait" (other_unwound stop);
      test "stop unwinds those that yield" yielding_unwound;
      test "an exception unwinds those that wait" (fun () ->
          raises "start" Boom (fun () -> other_unwound explode ()));
      test "finalisers that wait" finalisers_wait;
      test "protect" protect_defers;
      test "protect, for long" protected_for_long;
      test "protect in protect" nested_protect;
      test "finalisers that raise" exceptions_in_finalisers;
      test "a thread that insists" insists;
    ]
end

let suite (name, (module D : Concord_styles.Direct)) =
  let module Cases = Make (D) in
  (name ^ ", in direct style", Cases.suite)
