open Service_cases
module Race = Concord_test_support.Race

(* The moments and the numbers are drawn by the seed. *)
let under_load ?program ?lock ?(times = 3) ~grace ~n domains () =
  for i = 1 to if Race.long then 50 else times do
    Cases.stop_under_load ?program ?lock
      (Race.random (i + (1000 * domains)))
      ~domains ~grace ~n
  done

let leaves_nothing domains () =
  let resident = Cases.loads (Race.random domains) ~domains in
  List.iter (fun kb -> Printf.printf "%d KB\n" kb) resident;
  let first = List.hd resident and third = List.nth resident 2 in
  if 100 * third > 105 * first then
    Alcotest.failf "%d KB after the first load, %d KB after the third" first
      third

let cases name f =
  List.map
    (fun domains ->
      let name =
        Printf.sprintf "%s, %d HTTP domain%s" name domains
          (if domains = 1 then "" else "s")
      in
      Alcotest.test_case name `Quick (f domains))
    [ 1; 2 ]

let () =
  Race.watchdog ~seconds:(if Race.long then 1200. else 120.);
  Alcotest.run "service"
    [
      ("what loads leave behind", cases "three loads" leaves_nothing);
      ( "SIGTERM under load",
        List.concat
          [
            cases "a long grace" (under_load ~grace:20. ~n:100_000);
            cases "without Concord"
              (under_load ~program:"../plain/plain.exe" ~times:1 ~grace:20.
                 ~n:100_000);
            cases "a short grace" (under_load ~grace:0.1 ~n:3_000_000);
            cases "locked until after the signal"
              (under_load ~lock:`Past_the_signal ~times:2 ~grace:20. ~n:100_000);
            (* Young, and it has to end in spite of everything: with CONCORD_LONG only. *)
            (if Race.long then
               cases "locked until after the end"
                 (under_load ~lock:`Past_the_end ~grace:0.1 ~n:100_000)
             else []);
          ] );
    ]
