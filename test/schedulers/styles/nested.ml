(* Sets in threads of other styles. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

exception Boom

let[@inline never] explode () = if true then raise Boom

(* The inner style runs in a thread of the outer one. *)
module Make (S : Style.S) (D : Concord_styles.Direct) = struct
  open S

  let run fs =
    List.iter spawn fs;
    start ()

  let run_outer fs =
    List.iter D.spawn fs;
    D.start ()

  let rec until condition =
    if not (condition ()) then begin
      D.yield ();
      until condition
    end

  let values_pass () =
    let there = Mvar.create_empty () and back = Mvar.create_empty () in
    let sum = ref 0 in
    let rec echo n () =
      if n = 0 then return ()
      else
        let* i = take there in
        let* () = put back (i + 1) in
        echo (n - 1) ()
    in
    run_outer
      [
        (fun () -> run [ echo 50; echo 50 ]);
        (fun () ->
          for i = 1 to 100 do
            D.put_mvar there i;
            sum := !sum + D.take_mvar back
          done);
      ];
    int "sum" 5150 !sum

  (* The outer set is stopped or fails while the inner one waits. *)
  let outer_ends f () =
    let m = Mvar.create_empty () and inner = ref "goes on" in
    let waits () =
      let* () = take m in
      Alcotest.fail "it continued"
    in
    let outer () =
      match run [ waits; waits ] with
      | () -> inner := "returned"
      | exception e ->
          inner := "raised";
          raise e
    in
    Fun.protect
      (fun () ->
        run_outer
          [
            outer;
            (fun () ->
              until (fun () -> Mvar.waiters m = 2);
              f ());
          ])
      ~finally:(fun () ->
        Alcotest.(check string) "start" "raised" !inner;
        int "waiters" 0 (Mvar.waiters m);
        traced [ "next" ] (fun say ->
            run
              [
                (fun () ->
                  say "next";
                  return ());
              ]))

  (* A protected wait in the inner set outlives the end of both sets. *)
  let protected () =
    let m = Mvar.create_empty () in
    traced [ "filled"; "went on" ] @@ fun say ->
    let f () = direct (fun () -> Suspend.protect (fun () -> Mvar.take m)) in
    run_outer
      [
        (fun () ->
          run
            [
              (fun () ->
                let* () = f () in
                say "went on";
                return ());
            ]);
        (fun () ->
          until (fun () -> Mvar.waiters m = 1);
          Fun.protect D.stop ~finally:(fun () ->
              say "filled";
              Mvar.put m ()));
      ]

  let inner_stops () =
    traced [ "inner"; "outer" ] @@ fun say ->
    run_outer
      [
        (fun () ->
          run
            [
              (fun () ->
                say "inner";
                stop ());
              (fun () -> sync (Event.timeout 60.));
            ];
          say "outer");
      ]

  let inner_fails () =
    raises "outer" Boom (fun () ->
        run_outer
          [
            (fun () -> Event.sync (Event.timeout 60.));
            (fun () ->
              run
                [
                  (fun () ->
                    let* () = yield () in
                    explode ();
                    return ());
                ]);
          ])

  (* A thread of the inner set ends the outer one. *)
  let ended_from_within () =
    let m = Mvar.create_empty () in
    run_outer
      [
        (fun () -> D.take_mvar m);
        (fun () ->
          run
            [
              (fun () -> take m);
              (fun () ->
                let* () = yield () in
                direct D.stop);
            ]);
      ];
    int "waiters" 0 (Mvar.waiters m)

  let cases outer =
    [
      test (outer ^ ": values pass") values_pass;
      test (outer ^ ": the outer set is stopped") (outer_ends D.stop);
      test (outer ^ ": the outer set fails") (fun () ->
          raises "start" Boom (outer_ends explode));
      test (outer ^ ": protected") protected;
      test (outer ^ ": the inner set is stopped") inner_stops;
      test (outer ^ ": the inner set fails") inner_fails;
    ]
    @
    (* Threads of Threads don't run on the thread of the outer set. *)
    if is_light then
      [ test (outer ^ ": stopped from within") ended_from_within ]
    else []
end

let suite (module S : Style.S) =
  ( S.name ^ ", in threads",
    List.concat_map
      (fun (outer, (module D : Concord_styles.Direct)) ->
        if outer = S.name then []
        else
          let module Cases = Make (S) (D) in
          Cases.cases outer)
      Style.direct )
