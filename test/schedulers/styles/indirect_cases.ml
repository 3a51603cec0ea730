(* The special properties of the indirect styles: an operation in direct style, and [direct]. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

module Make (S : Style.S) = struct
  open S

  let run fs =
    List.iter spawn fs;
    start ()

  let refused what f =
    match
      run
        [
          (fun () ->
            f ();
            return ());
        ]
    with
    | () -> Alcotest.failf "%s was not refused" what
    | exception Invalid_argument text ->
        List.iter
          (fun part ->
            yes (Printf.sprintf "%s: %S" part text) (contains text part))
          [ name; "direct" ]

  let operations_are_refused () =
    let m = Mvar.create_empty () in
    refused "take" (fun () -> Mvar.take m);
    int "waiters" 0 (Mvar.waiters m);
    refused "a choice" (fun () ->
        Event.select [ Mvar.take_evt m; Event.timeout 60. ]);
    int "waiters" 0 (Mvar.waiters m);
    refused "in protect" (fun () -> Suspend.protect (fun () -> Mvar.take m));
    int "waiters" 0 (Mvar.waiters m);
    (* Nothing has to wait here. *)
    run
      [
        (fun () ->
          Mvar.put m ();
          Mvar.take m;
          return ());
      ]

  (* A signal handler may raise just as [Domain_local_await] forgets the loop. Then it asks the
     loop even after its end. *)
  let asked_after_its_end () =
    let trigger = ref None in
    run
      [
        (fun () ->
          trigger := Some (Domain_local_await.prepare_for_await ());
          return ());
      ];
    let { Domain_local_await.release; await } = Option.get !trigger in
    let release = thread release in
    await ();
    release ()

  let refused_and_caught () =
    let m = Mvar.create_empty () in
    traced [ "refused"; "goes on" ] @@ fun say ->
    run
      [
        (fun () ->
          (try Mvar.take m with Invalid_argument _ -> say "refused");
          let* () = yield () in
          say "goes on";
          return ());
      ]

  let direct_is_unwound () =
    let m = Mvar.create_empty () in
    begin
      traced [ "finaliser" ] @@ fun say ->
      run
        [
          (fun () ->
            let* () =
              direct (fun () ->
                  Fun.protect
                    ~finally:(fun () -> say "finaliser")
                    (fun () -> Mvar.take m))
            in
            say "went on";
            return ());
          (fun () ->
            let* () = yield () in
            stop ());
        ]
    end;
    int "waiters" 0 (Mvar.waiters m)

  let direct_in_direct () =
    let m = Mvar.create_empty () in
    traced [ "5" ] @@ fun say ->
    run
      [
        (fun () ->
          direct (fun () ->
              let i = Mvar.create_empty () in
              Concord_styles.Callcc.spawn (fun () ->
                  Mvar.put i (Mvar.take m + 1));
              Concord_styles.Callcc.start ();
              say (string_of_int (Mvar.take i))));
        (fun () -> put m 4);
      ]

  let protect_defers () =
    let m = Mvar.create_empty () in
    traced [ "stops"; "5"; "cancelled"; "unwound" ] @@ fun say ->
    run
      [
        (fun () ->
          let* () =
            direct (fun () ->
                Suspend.protect (fun () -> say (string_of_int (Mvar.take m)));
                if Suspend.is_cancelled () then say "cancelled";
                Fun.protect Concord.Tasks.yield ~finally:(fun () ->
                    say "unwound"))
          in
          say "went on";
          return ());
        (fun () ->
          let* () = yield () in
          direct (fun () ->
              Fun.protect stop_outside ~finally:(fun () ->
                  say "stops";
                  Mvar.put m 5)));
      ]

  let tests =
    [
      test "operations that must wait are refused" operations_are_refused;
      test "a loop that has ended refuses nothing" asked_after_its_end;
      test "refused, and caught" refused_and_caught;
      test "direct is unwound" direct_is_unwound;
      test "a set in direct" direct_in_direct;
      test "protect" protect_defers;
    ]
end

let suites =
  List.filter_map
    (fun (module S : Style.S) ->
      if S.is_direct then None
      else
        let module Cases = Make (S) in
        Some (S.name ^ ", direct style in it", Cases.tests))
    Style.all
