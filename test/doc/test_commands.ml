(* Checks that each shell command which a README or page shows is run by a test, or has a reason
   why not. *)

type check =
  | Run of string * string
      (** The file of the test that runs it, and a part of its text. *)
  | Not of string  (** The reason. *)

let network = Not "it installs packages from the network"
let benchmark = Not "it measures for minutes; the tests run each row briefly"
let toplevel = Not "it waits for input; test_pasting pastes the examples"
let site = Not "it makes the whole site; the tests check its pages one by one"
let of_readme = Run ("examples/commands/test_readmes.ml", "Shown_commands.run")
let trace = Run ("test/trace/command.t", "concord-trace --no-table --html")
let outside = Run ("doc/diagnosis/outside.ml", "--waits")
let top = Run ("test/trace/test_top.ml", "\"top\"; string_of_int pid")
let attach = Run ("test/trace/command.t", "--pid $process")
let demo = Run ("examples/fib_server/demo/demo.t", "demo.exe")
let sigquit = Run ("doc/diagnosis/dune", "../tutorial/withdrawn.exe sigquit")
let upstream = Run ("bench/upstream/try.t", "try domainslib")
let followed = Run ("test/outside/followed.t/run.t", "dune exec ./")

let table =
  [
    ( "README.md",
      [
        ("opam install ./path/to/concord eio_main", network);
        ("dune exec ./readme.exe", followed);
        ("./dev exec readme", Run ("examples/readme/dune", "readme"));
        ("./dev test", Not "it runs the tests themselves");
        ("./dev doc", site);
        ("CONCORD_DEBUG=sigquit ./program", sigquit);
        ("concord-trace --waits PID", outside);
      ] );
    ( "lib/README.md",
      [
        ( "./dev test --flambda",
          Not "it runs the tests themselves, on another compiler" );
      ] );
    ( "doc/decisions.mld",
      [
        ("./dev bench mvar suspend --quick", benchmark);
        ("./dev bench threads --quick", benchmark);
        ( "./dev test --compiler 5.3",
          Not "it runs the tests themselves, on another compiler" );
        ("concord-trace --waits", outside);
      ] );
    ( "doc/design.mld",
      [ ("./dev mutate", Run ("test/tools/mutate.t", "mutate")) ] );
    ( "doc/diagnosis.mld",
      [
        ("kill -QUIT", Run ("doc/diagnosis/reports.ml", "Sys.sigquit"));
        ( "concord-trace ./unfair.exe",
          Run ("doc/diagnosis/dune", "./unfair.exe") );
        ("./dev bench debug", benchmark);
        ("concord-trace --pid", attach);
        ("kill -QUIT PID", Run ("doc/diagnosis/reports.ml", "Sys.sigquit"));
        ("concord-trace --pid PID", attach);
        ("concord-trace --waits PID", outside);
        ( "gdb -p PID -batch -ex 'thread apply all backtrace'",
          Not "gdb's own command, tried by hand" );
      ] );
    ("doc/domainslib.mld", [ ("./dev demo", demo) ]);
    ( "doc/effects.mld",
      [
        ("./dev bench effect", benchmark); ("concord-trace --waits PID", outside);
      ] );
    ( "doc/limits.mld",
      [
        ("concord-trace --pid", attach);
        ("concord-trace program", trace);
        ( "docker run --cpus 1",
          Not "it needs Docker, which the tests don't have" );
      ] );
    ( "doc/parsers.mld",
      [ ("./dev exec parsers", Run ("examples/parsers/dune", "parsers")) ] );
    ("doc/performance.mld", [ ("./dev bench pipeline", benchmark) ]);
    ("doc/policies.mld", [ ("./dev bench policy", benchmark) ]);
    ( "doc/schedulers.mld",
      [
        ("opam install .", network);
        ( "./dev build @install",
          Not "it builds all packages, of which test/outside uses the result" );
        ("dune exec ./tested.exe", Run ("doc/schedulers/dune", "./tested.exe"));
        ( "dune exec ./tested.exe H3 S2",
          Not "it checks a part of what the same program checks without" );
      ] );
    ("doc/service.mld", [ ("concord-trace --pid", attach) ]);
    ( "doc/start.mld",
      [
        ("opam install ./path/to/concord", network);
        ("opam install eio_main", network);
        ("opam install utop", network);
        ("./dev utop", toplevel);
        ("opam pin add --no-action ./path/to/concord", network);
        ("opam install concord concord-eio eio_main", network);
        ("dune exec ./main.exe", followed);
        ("dune test", Run ("test/outside/followed.t/run.t", "dune test"));
      ] );
    ("doc/styles.mld", [ ("./dev bench styles", benchmark) ]);
    ("doc/threads.mld", [ ("./dev bench threads", benchmark) ]);
    ( "doc/trace.mld",
      [
        ( "concord-trace -o server.json --html server.html ./server.exe --port \
           8080",
          trace );
        ("./dev exec concord-trace PROGRAM", trace);
        ("concord-trace --help", Not "Cmdliner makes this output");
        ("concord-trace --pid 4711 --last 30 --html now.html", attach);
        ("concord-trace top 4711", top);
        ("concord-trace --waits", outside);
        ("./dev demo --html demo.html", demo);
      ] );
    ( "doc/tutorial.mld",
      [
        ("dune exec ./main.exe", followed);
        ("dune exec ./starving.exe", followed);
        ("dune exec ./withdrawn.exe", followed);
        ("CONCORD_DEBUG=sigquit dune exec ./withdrawn.exe", sigquit);
      ] );
    ( "doc/upstream.mld",
      [
        ( "./dev test test_eio_host_unlinked test_pool_host",
          Not "these are tests themselves" );
        ("./dev exec bench/upstream/try domainslib ~/domainslib", upstream);
        ( "./dev exec bench/upstream/try --unpatched domainslib ~/domainslib",
          upstream );
      ] );
    ( "examples/drivers/README.md",
      [ ("./dev test test_drivers", Not "it is a test itself") ] );
    ( "examples/ftp/README.md",
      [
        ( "mkdir -p files/upload && ./dev exec ftp --root files --port 2121",
          of_readme );
        ("curl ftp://localhost:2121/", of_readme);
      ] );
    ( "examples/node/README.md",
      [
        ("./dev exec node --port 7000 --rpc 8000", of_readme);
        ("./dev exec node --port 7001 --rpc 8001 --peer 7000", of_readme);
        ( "./dev exec node --port 7002 --rpc 8002 --peer 7000 --peer 7001",
          of_readme );
        ("curl -d 'Ada pays Bob 5' localhost:8000/transactions", of_readme);
        ( "curl -G localhost:8002/wait --data-urlencode transaction='Ada pays \
           Bob 5'",
          of_readme );
        ("curl localhost:8001/head", of_readme);
        ("curl 'localhost:8001/search?text=Ada'", of_readme);
      ] );
    ( "examples/service/README.md",
      [
        ("./dev exec service --port=8080 --database=sqlite3:jobs.db", of_readme);
        ( "curl -d 1000000 localhost:8080/jobs          # 202 and the job's \
           number, or 503",
          of_readme );
        ( "curl 'localhost:8080/jobs/1?wait=5'          # a long poll: at most \
           5 seconds",
          of_readme );
        ( "curl -X DELETE localhost:8080/jobs/1         # withdraws the job, \
           or stops it",
          of_readme );
        ( "curl -N localhost:8080/events                # server-sent events, \
           one for each job that ends",
          of_readme );
        ("curl localhost:8080/metrics", of_readme);
        ("./dev doc", site);
        ("TMPDIR=/dev/shm ./dev exec service/plain/compare", benchmark);
      ] );
    ( "trace/README.md",
      [
        ( "concord-trace -o server.json --html server.html ./server.exe --port \
           8080",
          trace );
        ("concord-trace --waits 4711", outside);
        ("concord-trace top 4711", top);
        ("concord-trace --help", Not "Cmdliner makes this output");
        ("./dev exec concord-trace readme", trace);
        ("./dev demo --html demo.html", demo);
      ] );
    ( "trace/index.mld",
      [
        ("concord-trace ./my_program", trace);
        ("concord-trace -o timeline.json ./my_program", trace);
        ("concord-trace --html timeline.html ./my_program", trace);
        ("concord-trace --waits PID", outside);
      ] );
  ]

let root = "../.."
let path name = Filename.concat root name

let rec files folder =
  Array.to_list (Sys.readdir (path folder))
  |> List.concat_map (fun name ->
      let file = if folder = "." then name else Filename.concat folder name in
      match Sys.is_directory (path file) with
      | true -> if name.[0] = '.' || name.[0] = '_' then [] else files file
      | false ->
          if name = "README.md" || Filename.check_suffix name ".mld" then
            [ file ]
          else []
      (* dune is just making this program anew *)
      | exception Sys_error _ -> [])

let sorted = List.sort_uniq compare

(* Many pages say how to start a toplevel. test/outside/toplevel.t loads what each names. *)
let is_checked_elsewhere = String.starts_with ~prefix:"utop -require "

let shown () =
  let names = List.sort compare (files ".") in
  Alcotest.(check bool) "pages are found" true (List.length names > 40);
  List.iter
    (fun name ->
      let expected =
        Option.value (List.assoc_opt name table) ~default:[] |> List.map fst
      in
      Alcotest.(check (list string))
        (name ^ ": each command is in the table of test_commands.ml")
        (sorted expected)
        (Shown_commands.in_file (path name)
        |> List.filter (fun command -> not (is_checked_elsewhere command))
        |> sorted))
    names;
  Alcotest.(check (list string))
    "files of the table" []
    (List.filter (fun name -> not (List.mem name names)) (List.map fst table))

let contains = Texts.contains

let tests () =
  List.iter
    (fun (command, check) ->
      match check with
      | Not reason -> Alcotest.(check bool) command true (reason <> "")
      | Run (file, part) ->
          let text =
            In_channel.with_open_bin (path file) In_channel.input_all
          in
          if not (contains text ~part) then
            Alcotest.failf "%s: %s has no %S" command file part)
    (List.concat_map snd table)

(* --- What counts as a command --- *)

let found name text =
  let file = Filename.temp_file "commands" name in
  Fun.protect ~finally:(fun () -> Sys.remove file) @@ fun () ->
  Out_channel.with_open_bin file (fun channel -> output_string channel text);
  Shown_commands.in_file file

let finding () =
  Alcotest.(check (list string))
    "Markdown"
    [
      "anything at all";
      "curl a";
      "opam b";
      "dune c";
      "foo d";
      "A=b ./program";
      "./dev e";
    ]
    (found ".md"
       "```sh\n\
        anything at all\n\n\
        ```\n\
        text\n\
        ```\n\
        curl a\n\
        diagram\n\
        opam b\n\
        ```\n\n\
       \    dune c\n\
       \    let x = 1\n\
        ```console\n\
        $ foo d\n\
        an answer\n\
        ```\n\
        `A=b ./program` and `./dev`, `x` or `./dev e`.\n\
        ```ocaml\n\
        curl f\n\
        ```\n");
  Alcotest.(check (list string))
    "odoc"
    [ "anything at all"; "curl a"; "./dev e" ]
    (found ".mld"
       "{@sh[\n\
        anything at all\n\
        ]}\n\
        {@text file=x.txt[\n\
        curl a\n\
        diagram\n\
        ]}\n\
        [./dev e], [x y] and [./dev].\n\
        {[\n\
        curl f\n\
        ]}\n")

let () =
  let case name f = Alcotest.test_case name `Quick f in
  Alcotest.run "commands"
    [
      ( "commands",
        [
          case "what counts as one" finding;
          case "are in the table" shown;
          case "have a test or a reason" tests;
        ] );
    ]
