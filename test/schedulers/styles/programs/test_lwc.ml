(* Each program in each style computes the same result as a sequential program. The commands
   are tested in examples. *)

open Lwc
open Concord_test_support

let programs : (string * (module Program.WRITTEN) * int list) list =
  [
    ("kpn", (module Kpn), [ 0; 1; 2; 50; 500 ]);
    ("sieve", (module Sieve), [ 0; 1; 2; 50 ]);
    ("sorter", (module Sorter), [ 0; 1; 2; 3; 20 ]);
    ("chain", (module Chain), [ 0; 1; 50 ]);
  ]

let result = Alcotest.(array int)

(* One network after the other, in one thread. *)
let computes program sizes style () =
  let (module Written : Program.WRITTEN) = program in
  let (module In_style : Program.S) = Program.in_style program style in
  let check n =
    Alcotest.check result
      (Printf.sprintf "n = %d" n)
      (Written.sequential n)
      (In_style.run (In_style.setup n))
  in
  List.iter check sizes

let forgets program style () =
  let (module Written : Program.WRITTEN) = program in
  let (module In_style : Program.S) = Program.in_style program style in
  let forgotten = In_style.setup 3 in
  In_style.forget ();
  let network = In_style.setup 5 in
  Alcotest.check result "the second" (Written.sequential 5)
    (In_style.run network);
  Alcotest.check result "the first"
    (Array.map (Fun.const 0) (Written.sequential 3))
    (In_style.run forgotten)

(* The networks run in tasks of a scheduler, all of which wait at the end. *)
let in_tasks () =
  let n = 30 in
  let expected = Sieve.sequential n in
  let run (_, style) () =
    let (module In_style : Program.S) = Program.in_style (module Sieve) style in
    In_style.run (In_style.setup n)
  in
  Concord_fifo.run (fun () ->
      Concord.Scope.run (fun scope ->
          Style.all
          |> List.map (fun style ->
              Concord.Scope.fork_promise scope (run style))
          |> List.iter (fun promise ->
              Alcotest.check result "primes" expected
                (Concord.Promise.await promise))))

(* --- The small examples ----------------------------------------------------- *)

(* A thread calls [yield3] and [transfer_mvar] while another one counts its turns. *)
let small name () =
  let before = Concord.Mvar.create 7 and after = Concord.Mvar.create_empty () in
  Check.traced
    [ "turn 1"; "turn 2"; "turn 3"; "yielded"; "turn 4"; "transferred" ]
    (fun say ->
      let turn i = say (Printf.sprintf "turn %d" i) in
      match List.assoc name Style.light with
      | Direct (module Lwc) ->
          let open Small.Direct (Lwc) in
          let open Lwc in
          spawn (fun () ->
              yield3 ();
              say "yielded";
              yield ();
              transfer_mvar before after;
              say "transferred");
          spawn (fun () ->
              for i = 1 to 4 do
                turn i;
                yield ()
              done);
          start ()
      | Trampolined (module Lwc) ->
          let open Small.Trampolined (Lwc) in
          let open Lwc in
          spawn (fun () ->
              yield3 >>= fun () ->
              say "yielded";
              yield >>= fun () ->
              transfer_mvar before after >>= fun () -> say "transferred");
          let rec turns i () =
            if i <= 4 then begin
              turn i;
              yield >>= turns (i + 1)
            end
          in
          spawn (turns 1);
          start ()
      | Monadic (module Lwc) ->
          let open Small.Monadic (Lwc) in
          let open Lwc in
          spawn (fun () ->
              let* () = yield3 () in
              say "yielded";
              let* () = yield () in
              let+ () = transfer_mvar before after in
              say "transferred");
          let rec turns i () =
            if i > 4 then skip
            else begin
              turn i;
              yield () >>= turns (i + 1)
            end
          in
          spawn (turns 1);
          start ());
  Alcotest.(check (option int))
    "transferred" (Some 7)
    (Concord.Mvar.try_take after)

let () =
  let for_each_style what test styles =
    List.map
      (fun (name, style) -> Check.test (what ^ ", " ^ name) (test style))
      styles
  in
  Check.run "Light weight concurrency"
    (List.map
       (fun (name, program, sizes) ->
         ( name,
           for_each_style "computes" (computes program sizes) Style.all
           @ for_each_style "forgets" (forgets program) Style.all ))
       programs
    @ [
        ("together", [ Check.test "in tasks of a scheduler" in_tasks ]);
        ( "small examples",
          List.map (fun (name, _) -> Check.test name (small name)) Style.light
        );
      ])
