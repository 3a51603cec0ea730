type case = { title : string; run : unit -> unit }

let case title run = { title; run }

exception Not_offered of string
exception Failed of string

let fail format = Printf.ksprintf (fun text -> raise (Failed text)) format

let equal show what expected actual =
  if expected <> actual then
    fail "%s: expected %s, but it was %s" what (show expected) (show actual)

let int = equal string_of_int
let yes what condition = if not condition then fail "%s" what

(* --- In the child ----------------------------------------------------------- *)

(* The case that runs, and where the parent reads what became of it. *)
let current = ref ("(none)", stderr)

(* A line for each step: the parent reads what was written before a hang. *)
let say kind text =
  let out = snd !current in
  output_string out (Printf.sprintf "%c%s\n" kind (String.escaped text));
  flush out

let say_failed e =
  let what =
    match e with Failed text -> text | e -> "raised " ^ Printexc.to_string e
  in
  say 'x' (fst !current ^ ": " ^ what)

let abort e =
  say_failed e;
  Unix._exit 0

let perform cases out =
  Printexc.record_backtrace true;
  current := ("(start)", out);
  let rec go kept missing = function
    | [] -> if kept then say 'k' "" else say 'n' missing
    | case :: rest -> (
        current := (case.title, out);
        say 'b' case.title;
        match case.run () with
        | () -> go true missing rest
        | exception Not_offered why -> go kept why rest
        | exception e -> say_failed e)
  in
  go false "" cases

let perform_and_exit cases out =
  (try perform cases out with _ -> ());
  flush_all ();
  Unix._exit 0

(* --- In the parent ---------------------------------------------------------- *)

let rec retrying f =
  try f () with Unix.(Unix_error (EINTR, _, _)) -> retrying f

(* What the child writes until it ends; [false]: it has not ended in time. *)
let read_until deadline input =
  let text = Buffer.create 256 and bytes = Bytes.create 4096 in
  let rec go () =
    let left = deadline -. Unix.gettimeofday () in
    if left <= 0. then false
    else
      match retrying (fun () -> Unix.select [ input ] [] [] left) with
      | [], _, _ -> go ()
      | _ -> (
          match retrying (fun () -> Unix.read input bytes 0 4096) with
          | 0 -> true
          | n ->
              Buffer.add_subbytes text bytes 0 n;
              go ())
  in
  let ended = go () in
  (ended, Buffer.contents text)

let of_status = function
  | Unix.WEXITED n -> Printf.sprintf "exited with code %d" n
  | WSIGNALED n | WSTOPPED n -> Printf.sprintf "was killed by signal %d" n

let conclude ~seconds ended status text =
  let rec go current = function
    | [] when ended ->
        Report.Broken
          (Printf.sprintf "%s: the process %s" current (of_status status))
    | [] ->
        Report.Broken
          (Printf.sprintf "%s: hangs: no result in %g s" current seconds)
    | line :: rest -> (
        let said () =
          Scanf.unescaped (String.sub line 1 (String.length line - 1))
        in
        match line.[0] with
        | 'k' -> Report.Kept
        | 'n' -> Report.Not_offered (said ())
        | 'x' -> Report.Broken (said ())
        | _ -> go (said ()) rest)
  in
  String.split_on_char '\n' text
  |> List.filter (fun line -> line <> "")
  |> go "(start)"

let end_of ~seconds ~input child =
  let deadline = Unix.gettimeofday () +. seconds in
  let ended, text = read_until deadline input in
  Unix.close input;
  (* What it has said is all that counts: whatever it still does, it ends. *)
  (if not ended then
     try Unix.kill child Sys.sigkill with Unix.Unix_error _ -> ());
  let _, status = retrying (fun () -> Unix.waitpid [] child) in
  conclude ~seconds ended status text

let fork () =
  flush_all ();
  try Unix.fork ()
  with Failure _ ->
    invalid_arg
      "Concord_testkit: the program has, or had, a second domain, so that it \
       cannot fork"

let run ~seconds cases =
  let input, output = Unix.pipe ~cloexec:true () in
  match fork () with
  | 0 ->
      Unix.close input;
      perform_and_exit cases (Unix.out_channel_of_descr output)
  | child ->
      Unix.close output;
      end_of ~seconds ~input child
