(* Opens its first argument, a page, in Chromium without a window, and fails if the console shows an
   error, if a picture is not drawn, or if anything is asked for that is not on
   the disk; and fails if it finds none of these in the second one. Where Chromium
   is not installed it says so and passes.

   It speaks the browser's debugging protocol: JSON objects, each of which ends
   with a null character, through descriptors 3 and 4. *)

open Yojson.Safe.Util

let patience_s = 60

(* --- The browser --- *)

let program = "chromium"

let is_installed () =
  Sys.command (Printf.sprintf "command -v %s >/dev/null" program) = 0

let switches =
  [
    "--headless";
    "--no-sandbox";
    "--disable-gpu";
    "--disable-quic";
    "--disable-dev-shm-usage";
    "--no-first-run";
    "--disable-background-networking";
    "--disable-component-update";
    "--disable-sync";
    "--remote-debugging-pipe";
  ]

type t = { pid : int; requests : out_channel; answers : in_channel }

let start profile =
  let command =
    String.concat " " (("exec " ^ program) :: switches)
    ^ Printf.sprintf " --user-data-dir=%s about:blank 3<&0 4>&1 2>%s"
        (Filename.quote profile)
        (Filename.quote (Filename.concat profile "stderr"))
  in
  let input, requests = Unix.pipe ~cloexec:true () in
  let answers, output = Unix.pipe ~cloexec:true () in
  let pid =
    Unix.create_process "/bin/sh" [| "sh"; "-c"; command |] input output
      Unix.stderr
  in
  Unix.close input;
  Unix.close output;
  {
    pid;
    requests = Unix.out_channel_of_descr requests;
    answers = Unix.in_channel_of_descr answers;
  }

let receive browser =
  let buffer = Buffer.create 1024 in
  let rec read () =
    match input_char browser.answers with
    | '\000' -> Yojson.Safe.from_string (Buffer.contents buffer)
    | c ->
        Buffer.add_char buffer c;
        read ()
  in
  try read () with End_of_file -> failwith "the browser ended"

(* --- What happens on the page --- *)

type seen = {
  mutable errors : string list;
  mutable urls : string list;
  mutable loaded : bool;
}

let text json path = List.fold_left (fun json key -> member key json) json path

let notice seen message =
  let params = member "params" message in
  let error kind what =
    seen.errors <- Printf.sprintf "%s: %s" kind what :: seen.errors
  in
  match to_string_option (member "method" message) with
  | Some "Page.loadEventFired" -> seen.loaded <- true
  | Some "Runtime.exceptionThrown" ->
      error "exception"
        (Yojson.Safe.to_string (member "exceptionDetails" params))
  | Some "Runtime.consoleAPICalled" -> (
      match to_string (member "type" params) with
      | ("error" | "warning" | "assert") as kind ->
          error ("console." ^ kind)
            (Yojson.Safe.to_string (member "args" params))
      | _ -> ())
  | Some "Log.entryAdded" ->
      error
        (to_string (text params [ "entry"; "level" ]))
        (to_string (text params [ "entry"; "text" ]))
  | Some "Network.requestWillBeSent" ->
      seen.urls <- to_string (text params [ "request"; "url" ]) :: seen.urls
  | Some _ | None -> ()

let last_id = ref 0

(* What happens meanwhile is noticed. *)
let call ?session browser seen name params =
  incr last_id;
  let id = !last_id in
  let session =
    Option.fold ~none:[] ~some:(fun s -> [ ("sessionId", `String s) ]) session
  in
  output_string browser.requests
    (Yojson.Safe.to_string
       (`Assoc
          ([
             ("id", `Int id); ("method", `String name); ("params", `Assoc params);
           ]
          @ session)));
  output_char browser.requests '\000';
  flush browser.requests;
  let rec answer () =
    let message = receive browser in
    if member "id" message = `Int id then
      match member "error" message with
      | `Null -> member "result" message
      | error -> failwith (name ^ ": " ^ Yojson.Safe.to_string error)
    else begin
      notice seen message;
      answer ()
    end
  in
  answer ()

(* Its processes write into the profile until it has ended; if it does not end when it
   is asked to, it is killed. *)
let ask_to_end browser =
  ignore (Unix.alarm 10 : int);
  try
    output_string browser.requests {|{"id":0,"method":"Browser.close"}|};
    output_char browser.requests '\000';
    flush browser.requests;
    while true do
      ignore (receive browser : Yojson.Safe.t)
    done
  with Failure _ | Sys_error _ -> (
    try Unix.kill browser.pid Sys.sigkill with Unix.Unix_error _ -> ())

let pictures_script =
  {|Promise.all(Array.from(document.images, image =>
      image.decode().catch(() => {}).then(() => [image.src, image.naturalWidth])))|}

(* The sources of the pictures, with their widths. *)
let look browser seen page =
  let call ?session = call ?session browser seen in
  let target =
    call "Target.createTarget" [ ("url", `String "about:blank") ]
    |> member "targetId" |> to_string
  in
  let session =
    call "Target.attachToTarget"
      [ ("targetId", `String target); ("flatten", `Bool true) ]
    |> member "sessionId" |> to_string
  in
  List.iter
    (fun domain -> ignore (call ~session (domain ^ ".enable") []))
    [ "Page"; "Runtime"; "Log"; "Network" ];
  ignore (call ~session "Page.navigate" [ ("url", `String ("file://" ^ page)) ]);
  while not seen.loaded do
    notice seen (receive browser)
  done;
  let evaluated =
    call ~session "Runtime.evaluate"
      [
        ("expression", `String pictures_script);
        ("awaitPromise", `Bool true);
        ("returnByValue", `Bool true);
      ]
  in
  text evaluated [ "result"; "value" ]
  |> to_list
  |> List.map (function
    | `List [ source; width ] -> (to_string source, to_int width)
    | _ -> failwith "what the browser says of the pictures")

let is_on_disk url =
  List.exists
    (fun prefix -> String.starts_with ~prefix url)
    [ "file:"; "data:" ]

let faults seen pictures =
  List.rev seen.errors
  @ List.filter_map
      (fun (source, width) ->
        if width > 0 then None else Some ("not drawn: " ^ source))
      pictures
  @ List.filter_map
      (fun url -> if is_on_disk url then None else Some ("asked for: " ^ url))
      (List.rev seen.urls)

let check page =
  let profile = Filename.temp_dir "browser" "" in
  let browser = start profile in
  let seen = { errors = []; urls = []; loaded = false } in
  let end_browser () =
    ask_to_end browser;
    ignore (Unix.waitpid [] browser.pid : int * Unix.process_status);
    ignore (Sys.command ("rm -rf " ^ Filename.quote profile) : int)
  in
  Sys.set_signal Sys.sigpipe Signal_ignore;
  Sys.set_signal Sys.sigalrm
    (Signal_handle
       (fun _ -> failwith (Printf.sprintf "no answer in %d s" patience_s)));
  ignore (Unix.alarm patience_s : int);
  Fun.protect ~finally:end_browser (fun () ->
      let pictures = look browser seen page in
      (List.length pictures, faults seen pictures))

let absolute file =
  if Filename.is_relative file then Filename.concat (Sys.getcwd ()) file
  else file

let stop_with lines =
  List.iter print_endline lines;
  exit 1

(* That it would see them. *)
let check_that_it_sees_faults page =
  let _, faults = check page in
  let is_seen start = List.exists (String.starts_with ~prefix:start) faults in
  let unseen =
    List.filter
      (fun start -> not (is_seen start))
      [ "console.error"; "not drawn: file"; "asked for: http" ]
  in
  if unseen <> [] then stop_with ("not seen:" :: unseen)

let () =
  let page = absolute Sys.argv.(1) and broken = absolute Sys.argv.(2) in
  if not (is_installed ()) then
    print_endline (program ^ " is not installed: the page was not opened")
  else begin
    check_that_it_sees_faults broken;
    match check page with
    | 0, [] when Bench_page.Plot.is_possible () ->
        stop_with [ "the page has no picture" ]
    | _, [] -> ()
    | _, faults -> stop_with faults
  end
