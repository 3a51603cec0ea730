(* The process that runs now. It is ended together with this one. *)
let running = ref None

(* Makes the copy, changes into it, and removes it at the end, even after a signal. *)
let enter root =
  let copy = Filename.temp_dir "concord-mutate-" "" in
  at_exit (fun () ->
      Option.iter
        (fun pid ->
          Unix.kill pid Sys.sigterm;
          ignore (Unix.waitpid [] pid))
        !running;
      ignore (Sys.command (Filename.quote_command "rm" [ "-rf"; copy ])));
  List.iter
    (fun (signal, code) ->
      Sys.set_signal signal (Signal_handle (fun _ -> exit code)))
    [ (Sys.sigint, 130); (Sys.sigterm, 143); (Sys.sighup, 129) ];
  let entries =
    List.filter
      (fun entry ->
        not (String.starts_with ~prefix:"_" entry || entry = ".git"))
      (Array.to_list (Sys.readdir root))
  in
  let sources = List.map (Filename.concat root) entries in
  if
    Sys.command (Filename.quote_command "cp" (("-R" :: sources) @ [ copy ]))
    <> 0
  then failwith (Printf.sprintf "cannot copy %s to %s" root copy);
  Sys.chdir copy

type result = Passed | Failed | Too_long

(* The output of dune goes to [log]. A variable that is unused because of a fault is not an
   error. The memory is limited to 12 GB, because a fault may allocate without end. (The linker
   mold reserves 8 GB of addresses.) *)
let log = "_mutate.log"

let dune ?(cache = "disabled") ~limit targets =
  let command =
    [
      "-c";
      "ulimit -v 12000000; exec timeout -k 5 \"$@\"";
      "sh";
      string_of_int limit;
    ]
    @ [
        "env";
        "OCAMLPARAM=_,w=-a";
        "dune";
        "build";
        "--root";
        ".";
        "--no-print-directory";
      ]
    @ ("--cache" :: cache :: "--stop-on-first-error" :: targets)
  in
  let output =
    Unix.openfile log [ O_WRONLY; O_CREAT; O_TRUNC; O_CLOEXEC ] 0o600
  in
  let pid =
    Fun.protect ~finally:(fun () -> Unix.close output) @@ fun () ->
    Unix.create_process "sh"
      (Array.of_list ("sh" :: command))
      Unix.stdin output output
  in
  running := Some pid;
  let rec wait () =
    match Unix.waitpid [] pid with
    | _, status -> status
    | exception Unix.Unix_error (EINTR, _, _) -> wait ()
  in
  let status = wait () in
  running := None;
  match status with
  | WEXITED 0 -> Passed
  | WEXITED (124 | 137) | WSIGNALED _ | WSTOPPED _ -> Too_long
  | WEXITED _ -> Failed

(* Building is a step of its own, because it tells whether a fault compiles. *)
let build ?cache tests =
  let program { Dependants.folder; name; _ } =
    Printf.sprintf "./%s/%s.exe" folder name
  in
  dune ?cache ~limit:600 (List.map program tests)

let run ~limit tests =
  dune ~limit (List.map (fun { Dependants.alias; _ } -> alias) tests)

let printed () = In_channel.with_open_bin log In_channel.input_all
