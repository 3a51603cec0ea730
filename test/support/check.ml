let words_of_debug =
  Sys.getenv_opt "CONCORD_DEBUG"
  |> Option.value ~default:"" |> String.split_on_char ','
  |> List.filter (fun word -> word <> "")

let debugged = words_of_debug <> []
let debugged_with word = List.mem word words_of_debug
let unless_debugged test = if debugged then [] else [ test ]
let instrumented = Sys.getenv_opt "CONCORD_TSAN" = Some "1"
let limit = if instrumented then 240. else 60.
let current = Atomic.make ("(start)", infinity)

(* A copy of the standard error, because Alcotest redirects it during a test. *)
let stderr_of_program = Unix.dup Unix.stderr

let with_signals_blocked start =
  let mask = Thread.sigmask SIG_BLOCK (List.init 64 succ) in
  Fun.protect start ~finally:(fun () ->
      ignore (Thread.sigmask SIG_SETMASK mask : int list))

let rec watch () =
  Thread.delay 0.5;
  let name, deadline = Atomic.get current in
  if Unix.gettimeofday () > deadline then begin
    let text = Printf.sprintf "watchdog: %S takes too long\n" name in
    ignore (Unix.write_substring stderr_of_program text 0 (String.length text));
    Unix._exit 2
  end;
  watch ()

let test name f =
  Alcotest.test_case name `Quick @@ fun () ->
  Atomic.set current (name, Unix.gettimeofday () +. limit);
  Fun.protect f ~finally:(fun () -> Atomic.set current ("(next)", infinity))

(* --- Cases that are left out ------------------------------------------------- *)

type left_out = { program : string; suite : string; case : string }

let read_left_out file =
  let of_line line =
    match List.map String.trim (String.split_on_char '|' line) with
    | [ program; suite; case; _reason ] -> Some { program; suite; case }
    | _ ->
        failwith (Printf.sprintf "%s: not a line of four fields: %s" file line)
  in
  In_channel.with_open_text file In_channel.input_lines
  |> List.filter (fun line -> line <> "" && line.[0] <> '#')
  |> List.filter_map of_line

(* A line that leaves out nothing is out of date. *)
let without file suites =
  let program =
    Filename.remove_extension (Filename.basename Sys.executable_name)
  in
  let mine = List.filter (fun l -> l.program = program) (read_left_out file) in
  let is_like wanted name = wanted = "*" || wanted = name in
  let is_left_out suite case l = is_like l.suite suite && is_like l.case case in
  let stays suite (case, _, _) =
    not (List.exists (is_left_out suite case) mine)
  in
  let is_useful l =
    List.exists
      (fun (suite, cases) ->
        List.exists (fun (case, _, _) -> is_left_out suite case l) cases)
      suites
  in
  List.iter
    (fun l ->
      if not (is_useful l) then
        failwith
          (Printf.sprintf "%s: %s has no case %S of %S" file program l.case
             l.suite))
    mine;
  List.map
    (fun (suite, cases) -> (suite, List.filter (stays suite) cases))
    suites
  |> List.filter (fun (_, cases) -> cases <> [])

let run name suites =
  let suites =
    match Sys.getenv_opt "CONCORD_LEAVE_OUT" with
    | Some file when file <> "" -> without file suites
    | Some _ | None -> suites
  in
  Printexc.record_backtrace true;
  (* The watchdog must not run a test's signal handler, because that might raise. Nor may it
     receive a signal before it blocks them, because another thread runs the handler late. *)
  ignore (with_signals_blocked (Thread.create watch) : Thread.t);
  Alcotest.run name suites

let strings what = Alcotest.(check (list string)) what
let int what = Alcotest.(check int) what
let yes what actual = Alcotest.(check bool) what true actual
let no what actual = Alcotest.(check bool) what false actual

let traced expected f =
  let said = Atomic.make [] in
  let rec say s =
    let before = Atomic.get said in
    if not (Atomic.compare_and_set said before (s :: before)) then say s
  in
  f say;
  strings "trace" expected (List.rev (Atomic.get said))

let eventually ?(pause = fun () -> Thread.delay 0.0002) what condition =
  let deadline = Unix.gettimeofday () +. 20. in
  while not (condition ()) do
    if Unix.gettimeofday () > deadline then
      Alcotest.failf "it never happened: %s" what;
    pause ()
  done

let raises what expected f =
  match f () with
  | _ -> Alcotest.failf "%s: nothing was raised" what
  | exception e ->
      (* The exception's text may say what raised it, if waits are recorded. *)
      if e <> expected then
        Alcotest.failf "%s: expected %s, but it raised %s" what
          (Printexc.to_string expected)
          (Printexc.to_string e)

let contains text part = Texts.contains text ~part

let named what name e =
  let text = Printexc.to_string e in
  if not (String.starts_with ~prefix:name text) then
    Alcotest.failf "%s: %S" what text

let raises_at name f =
  match f () with
  | _ -> Alcotest.fail "nothing was raised"
  | exception e ->
      let trace = Printexc.get_backtrace () in
      if not (contains trace name) then
        Alcotest.failf "the backtrace of %s does not name %s:\n%s"
          (Printexc.to_string e) name trace

let printed f =
  let file = Filename.temp_file "concord" ".txt" in
  let flush () =
    flush stdout;
    flush stderr
  in
  flush ();
  let target = Unix.openfile file [ O_WRONLY; O_TRUNC ] 0o600 in
  let kept = Unix.(dup stdout, dup stderr) in
  Unix.dup2 target Unix.stdout;
  Unix.dup2 target Unix.stderr;
  let restore () =
    flush ();
    Unix.dup2 (fst kept) Unix.stdout;
    Unix.dup2 (snd kept) Unix.stderr;
    List.iter Unix.close [ target; fst kept; snd kept ]
  in
  Fun.protect f ~finally:restore;
  let text = In_channel.with_open_bin file In_channel.input_all in
  Sys.remove file;
  text

let words v = Obj.reachable_words (Obj.repr v)

let caught f =
  match f () with
  | v -> Ok v
  | exception e -> Error (e, Printexc.get_raw_backtrace ())

let released = function
  | Ok v -> v
  | Error (e, backtrace) -> Printexc.raise_with_backtrace e backtrace

let in_thread f =
  let result = ref None in
  Thread.join (Thread.create (fun () -> result := Some (caught f)) ());
  released (Option.get !result)

let in_domain f = released (Domain.join (Domain.spawn (fun () -> caught f)))

let thread f =
  let result = ref None in
  let t = Thread.create (fun () -> result := Some (caught f)) () in
  fun () ->
    Thread.join t;
    released (Option.get !result)

let beside other f =
  let result = ref None in
  let thread = Thread.create (fun () -> result := Some (caught other)) () in
  let v = caught f in
  Thread.join thread;
  let v = released v in
  released (Option.get !result);
  v

(* OCaml runs a signal handler in the domain that polls first. A new domain may crash in one,
   because its [Domain.DLS] doesn't exist yet. And if the handler waits for the domain in which
   it runs, it waits for itself. *)
let domain f =
  let d = Concord__core__Signals.while_blocked (fun _ -> Domain.spawn f) in
  fun () -> Domain.join d
