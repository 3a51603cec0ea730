open Service_cases
module Race = Concord_test_support.Race

type database = SQLite | PostgreSQL

(* The seed determines the moments and the numbers. *)
let under_load ?program ?lock ~times ~grace ~n database domains () =
  for i = 1 to if Race.long then 50 else times do
    let database =
      match database with
      | SQLite -> None
      | PostgreSQL -> Some (Postgresql.create_database ())
    in
    Cases.stop_under_load ?program ?lock ?database
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

let cases ?(all = true) name f =
  List.map
    (fun domains ->
      let name =
        Printf.sprintf "%s, %d HTTP domain%s" name domains
          (if domains = 1 then "" else "s")
      in
      Alcotest.test_case name `Quick (f domains))
    (if all then [ 1; 2 ] else [ 2 ])

(* The shapes in which a request may arrive. *)
let shapes name program =
  let on_port options f =
    let child = Child.start ~program options in
    f (Child.port child);
    Child.terminate child;
    let ended = Lwt_main.run (Child.await_end child ~within:40.) in
    Alcotest.(check (list string)) "complaints" [] ended.complaints;
    Alcotest.(check bool) "drained" true ended.drained
  in
  Http_shapes.cases on_port { page = "/metrics"; post = "/jobs"; posted = 202 }
  |> List.map (fun (family, cases) -> (name ^ ", " ^ family, cases))

let () =
  Race.watchdog ~seconds:(if Race.long then 3600. else 240.);
  Alcotest.run "service"
    (shapes "with Concord" "../service.exe"
    @ shapes "without Concord" "../plain/plain.exe"
    @ [
        ( "single requests",
          List.map
            (fun (name, f) -> Alcotest.test_case name `Quick f)
            ([
               ("the page", Page.follows_jobs);
               ("deleted jobs", Claims.deleted);
               ("a job that takes too long", Claims.limited);
               ("a client that disconnects", Claims.disconnected);
               ("events without chunks", Claims.without_chunks);
               ("slow clients of events", Claims.read_slowly);
               ("clients that wait at SIGTERM", Claims.stopped);
               ( "SQLite, locked",
                 fun () -> Database_claims.locked ~database:None );
               ( "PostgreSQL, locked",
                 fun () ->
                   Database_claims.locked
                     ~database:(Some (Postgresql.create_database ())) );
             ]
            @ (if Openmetrics_parser.is_here then
                 [ ("metrics", Claims.measured) ]
               else [])
            @ List.concat_map
                (fun (name, f) ->
                  [
                    (name, f ~program:"../service.exe");
                    (name ^ ", without Concord", f ~program:"../plain/plain.exe");
                  ])
                [
                  ("jobs that wait for a domain", Claims.limited_in_turn);
                  ("jobs beyond the bounds", Claims.bounded);
                  ("no numbers", Claims.not_numbers);
                  ("malformed requests", Claims.malformed);
                  ("few descriptors", Claims.few_descriptors);
                  ("no descriptor", Claims.no_descriptor);
                  ("deaf clients", Claims.deaf);
                  ("a slow disk", Database_claims.slow);
                ]
            @
            if Race.long then
              [
                ("PostgreSQL, out of reach", Database_claims.out_of_reach);
                ( "a disk that hardly writes",
                  Database_claims.unanswered ~program:"../service.exe" );
                ( "a disk that hardly writes, without Concord",
                  Database_claims.unanswered ~program:"../plain/plain.exe" );
              ]
            else []) );
        ("what loads leave behind", cases "three loads" leaves_nothing);
        ( "SIGTERM under load",
          List.concat
            [
              cases "a long grace"
                (under_load SQLite ~times:3 ~grace:20. ~n:100_000);
              cases "without Concord"
                (under_load SQLite ~program:"../plain/plain.exe" ~times:1
                   ~grace:20. ~n:100_000);
              cases "a short grace"
                (under_load SQLite ~times:3 ~grace:0.1 ~n:3_000_000);
              cases "locked until after the signal"
                (under_load SQLite ~lock:`Past_the_signal ~times:2 ~grace:20.
                   ~n:100_000);
              cases ~all:Race.long "locked until after the end"
                (under_load SQLite ~lock:`Past_the_end ~times:1 ~grace:0.1
                   ~n:100_000);
              cases "PostgreSQL"
                (under_load PostgreSQL ~times:3 ~grace:20. ~n:100_000);
              cases "PostgreSQL, locked until after the signal"
                (under_load PostgreSQL ~lock:`Past_the_signal ~times:1
                   ~grace:20. ~n:100_000);
              cases ~all:Race.long "PostgreSQL, locked until after the end"
                (under_load PostgreSQL ~lock:`Past_the_end ~times:1 ~grace:0.1
                   ~n:100_000);
            ] );
      ])
