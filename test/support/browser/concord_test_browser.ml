(* The protocol consists of JSON objects, each followed by a null character. They pass through
   the browser's descriptors 3 and 4. *)

open Yojson.Safe.Util

let patience_s = 60

(* --- The process --- *)

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

type t = {
  pid : int;
  requests : out_channel;
  answers : in_channel;
  mutable session : string option;
  mutable last_id : int;
  (* The last visit, and what has happened since. *)
  mutable url : string;
  mutable errors : string list;
  mutable urls : string list;
  mutable loaded : bool;
}

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
    session = None;
    last_id = 0;
    url = "";
    errors = [];
    urls = [];
    loaded = false;
  }

let send browser text =
  output_string browser.requests text;
  output_char browser.requests '\000';
  flush browser.requests

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

let text json path = List.fold_left (fun json key -> member key json) json path

let notice browser message =
  let params = member "params" message in
  let error kind what =
    browser.errors <- Printf.sprintf "%s: %s" kind what :: browser.errors
  in
  match to_string_option (member "method" message) with
  | Some "Page.loadEventFired" -> browser.loaded <- true
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
      browser.urls <-
        to_string (text params [ "request"; "url" ]) :: browser.urls
  | Some _ | None -> ()

(* Other messages that arrive before the answer are noted. *)
let call browser name params =
  ignore (Unix.alarm patience_s : int);
  let id = browser.last_id + 1 in
  browser.last_id <- id;
  let session =
    match browser.session with
    | None -> []
    | Some session -> [ ("sessionId", `String session) ]
  in
  send browser
    (Yojson.Safe.to_string
       (`Assoc
          ([
             ("id", `Int id); ("method", `String name); ("params", `Assoc params);
           ]
          @ session)));
  let rec answer () =
    let message = receive browser in
    if member "id" message = `Int id then
      match member "error" message with
      | `Null -> member "result" message
      | error -> failwith (name ^ ": " ^ Yojson.Safe.to_string error)
    else begin
      notice browser message;
      answer ()
    end
  in
  answer ()

let open_tab browser =
  let target =
    call browser "Target.createTarget" [ ("url", `String "about:blank") ]
    |> member "targetId" |> to_string
  in
  let session =
    call browser "Target.attachToTarget"
      [ ("targetId", `String target); ("flatten", `Bool true) ]
    |> member "sessionId" |> to_string
  in
  browser.session <- Some session;
  List.iter
    (fun domain ->
      ignore (call browser (domain ^ ".enable") [] : Yojson.Safe.t))
    [ "Page"; "Runtime"; "Log"; "Network" ]

let visit ?(width = 1280) browser page =
  let url = if Filename.is_relative page then page else "file://" ^ page in
  ignore
    (call browser "Emulation.setDeviceMetricsOverride"
       [
         ("width", `Int width);
         ("height", `Int 1000);
         ("deviceScaleFactor", `Int 1);
         ("mobile", `Bool false);
       ]
      : Yojson.Safe.t);
  browser.url <- url;
  browser.errors <- [];
  browser.urls <- [];
  browser.loaded <- false;
  let navigated = call browser "Page.navigate" [ ("url", `String url) ] in
  (match to_string_option (member "errorText" navigated) with
  | None -> ()
  | Some error -> failwith (Printf.sprintf "%s: %s" url error));
  while not browser.loaded do
    notice browser (receive browser)
  done

let ask browser expression =
  let evaluated =
    call browser "Runtime.evaluate"
      [
        ("expression", `String expression);
        ("awaitPromise", `Bool true);
        ("returnByValue", `Bool true);
      ]
  in
  text evaluated [ "result"; "value" ]

let pictures browser =
  ask browser
    {|Promise.all(Array.from(document.images, image =>
        image.decode().catch(() => {}).then(() => [image.src, image.naturalWidth])))|}
  |> to_list
  |> List.map (function
    | `List [ source; width ] -> (to_string source, to_int width)
    | _ -> failwith "the browser's answer about the pictures")

(* [http://localhost:80/] for [http://localhost:80/a/b], and [file:///] for [file:///a/b]. *)
let origin url =
  match String.split_on_char '/' url with
  | scheme :: "" :: host :: _ -> scheme ^ "//" ^ host ^ "/"
  | _ -> url

let is_own browser url =
  List.exists
    (fun prefix -> String.starts_with ~prefix url)
    [ origin browser.url; "data:" ]

let faults browser =
  let pictures = pictures browser in
  List.rev browser.errors
  @ List.filter_map
      (fun (source, width) ->
        if width > 0 then None else Some ("not drawn: " ^ source))
      pictures
  @ List.filter_map
      (fun url ->
        if is_own browser url then None else Some ("asked for: " ^ url))
      (List.rev browser.urls)

(* --- Running --- *)

(* The browser's processes write into the profile until it has ended. If it doesn't end when it
   is asked to, it is killed. *)
let ask_to_end browser =
  ignore (Unix.alarm 10 : int);
  try
    send browser {|{"id":0,"method":"Browser.close"}|};
    while true do
      ignore (receive browser : Yojson.Safe.t)
    done
  with Failure _ | Sys_error _ -> (
    try Unix.kill browser.pid Sys.sigkill with Unix.Unix_error _ -> ())

let run f =
  let profile = Filename.temp_dir "browser" "" in
  let browser = start profile in
  let end_browser () =
    ask_to_end browser;
    ignore (Unix.alarm 0 : int);
    ignore (Unix.waitpid [] browser.pid : int * Unix.process_status);
    ignore (Sys.command ("rm -rf " ^ Filename.quote profile) : int)
  in
  Sys.set_signal Sys.sigpipe Signal_ignore;
  Sys.set_signal Sys.sigalrm
    (Signal_handle
       (fun _ -> failwith (Printf.sprintf "no answer in %d s" patience_s)));
  Fun.protect ~finally:end_browser (fun () ->
      open_tab browser;
      f browser)
