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

(* The title of the case that runs, and the pipe on which the parent reads the result. *)
let current = ref ("(none)", stderr)

(* Each step writes a line at once, so the parent knows how far the child came before a
   hang. *)
let say kind text =
  let out = snd !current in
  output_string out (Printf.sprintf "%c%s\n" kind (String.escaped text));
  flush out

let say_failed e =
  let what =
    match e with
    | Failed text -> text
    | Concord.Tools.Suspend.Never_resumed ->
        "all tasks wait, and nothing is left that could resume one \
         (Suspend.Never_resumed). Perhaps a resumer did not queue its task, or \
         did not wake the loop"
    | e -> "raised " ^ Printexc.to_string e
  in
  say 'x' (fst !current ^ ": " ^ what)

let abort e =
  say_failed e;
  Unix._exit 0

(* Any thread may call this, because a write of two bytes into a pipe is atomic. *)
let pulse = ref None

let alive () =
  Option.iter
    (fun pipe -> ignore (Unix.single_write_substring pipe ".\n" 0 2 : int))
    !pulse

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
  pulse := Some (Unix.descr_of_out_channel out);
  (try perform cases out with _ -> ());
  flush_all ();
  Unix._exit 0

(* --- In the parent ---------------------------------------------------------- *)

let rec retrying f =
  try f () with Unix.(Unix_error (EINTR, _, _)) -> retrying f

(* Reads what the child writes until it ends. The first result is [false] if the child wrote
   nothing for [seconds]. *)
let read_while_alive ~seconds input =
  let text = Buffer.create 256 and bytes = Bytes.create 4096 in
  let deadline = ref (Unix.gettimeofday () +. seconds) in
  let rec go () =
    let left = !deadline -. Unix.gettimeofday () in
    if left <= 0. then false
    else
      match retrying (fun () -> Unix.select [ input ] [] [] left) with
      | [], _, _ -> go ()
      | _ -> (
          match retrying (fun () -> Unix.read input bytes 0 4096) with
          | 0 -> true
          | n ->
              Buffer.add_subbytes text bytes 0 n;
              deadline := Unix.gettimeofday () +. seconds;
              go ())
  in
  let ended = go () in
  (ended, Buffer.contents text)

type ending = { verdict : Report.verdict; hangs : bool }

let of_status = function
  | Unix.WEXITED n -> Printf.sprintf "exited with code %d" n
  | WSIGNALED n | WSTOPPED n ->
      "was killed by " ^ Concord.Private.Signals.name n

let conclude ~seconds ended status text : ending =
  let known verdict = { verdict; hangs = false } in
  let rec go current = function
    | [] when ended ->
        known
          (Broken
             (Printf.sprintf "%s: the process %s" current (of_status status)))
    | [] ->
        let text =
          Printf.sprintf "%s: hangs (no result in %g s)" current seconds
        in
        { verdict = Broken text; hangs = true }
    | line :: rest -> (
        let said () =
          Scanf.unescaped (String.sub line 1 (String.length line - 1))
        in
        match line.[0] with
        | 'k' -> known Kept
        | 'n' -> known (Not_offered (said ()))
        | 'x' -> known (Broken (said ()))
        | '.' -> go current rest
        | _ -> go (said ()) rest)
  in
  String.split_on_char '\n' text
  |> List.filter (fun line -> line <> "")
  |> go "(start)"

let end_of ~seconds ~input child =
  let ended, text = read_while_alive ~seconds input in
  Unix.close input;
  (* The child may still run, but its result is known, so it is killed. *)
  (if not ended then
     try Unix.kill child Sys.sigkill with Unix.Unix_error _ -> ());
  let _, status = retrying (fun () -> Unix.waitpid [] child) in
  conclude ~seconds ended status text

let fork () =
  flush_all ();
  match Unix.fork () with
  | child -> child
  | exception Failure _ ->
      invalid_arg
        "Concord_testkit: Unix.fork fails, because the program has, or had, a \
         second domain"
  | exception Invalid_argument _ ->
      invalid_arg
        "Concord_testkit: each check needs a process of its own, but this \
         system has no Unix.fork"

(* A misspelt seed is an error. Otherwise each run would silently choose another seed. *)
let seed = function
  | Some seed -> seed
  | None -> (
      match Sys.getenv_opt "CONCORD_SEED" with
      | None | Some "" ->
          int_of_float (Unix.gettimeofday () *. 1e3) land 0xffffff
      | Some text -> (
          match int_of_string_opt text with
          | Some seed -> seed
          | None -> invalid_arg ("CONCORD_SEED is not a number: " ^ text)))

let check_seconds what seconds =
  if not (seconds > 0.) then
    invalid_arg
      (Printf.sprintf "%s: seconds is %g, but it must be positive" what seconds)

let needs_signals () =
  if Sys.win32 then raise (Not_offered "this system cannot send signals")

let run ~seconds cases =
  let input, output = Unix.pipe ~cloexec:true () in
  match fork () with
  | exception e ->
      Unix.close input;
      Unix.close output;
      raise e
  | 0 ->
      Unix.close input;
      perform_and_exit cases (Unix.out_channel_of_descr output)
  | child ->
      Unix.close output;
      (end_of ~seconds ~input child).verdict
