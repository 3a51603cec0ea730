(* The recorder reads events from files that other processes write at the same time. *)

open Concord_test_support
open Concord_trace

let contents file = In_channel.with_open_bin file In_channel.input_all

(* Runs the program while it writes its file. Returns the file's contents afterwards. *)
let events_of program args =
  let folder = Filename.temp_dir "events" "" in
  let set =
    [|
      "CONCORD_DEBUG=trace";
      "OCAML_RUNTIME_EVENTS_START=1";
      "OCAML_RUNTIME_EVENTS_PRESERVE=1";
      "OCAML_RUNTIME_EVENTS_DIR=" ^ folder;
      "OCAMLRUNPARAM=e=12,d=4";
    |]
  in
  let null = Unix.openfile "/dev/null" [ O_RDWR ] 0 in
  let pid =
    Unix.create_process_env program
      (Array.of_list (program :: args))
      set null null Unix.stderr
  in
  Unix.close null;
  Check.yes "status" (snd (Unix.waitpid [] pid) = WEXITED 0);
  let file = Filename.concat folder (Printf.sprintf "%d.events" pid) in
  let text = contents file in
  Sys.remove file;
  Unix.rmdir folder;
  text

(* In [recording f], [f folder recorder] is called while the program waits. *)
let recording f =
  let told = Filename.temp_file "folder" "" in
  let input, output = Unix.pipe ~cloexec:true () in
  let stdin = Unix.dup ~cloexec:true Unix.stdin in
  Unix.dup2 ~cloexec:false input Unix.stdin;
  let recorder =
    Recorder.start "sh"
      [
        "-c"; {|printf '%s\n' "$OCAML_RUNTIME_EVENTS_DIR" > "$0"; read x|}; told;
      ]
  in
  Unix.dup2 ~cloexec:false stdin Unix.stdin;
  List.iter Unix.close [ stdin; input ];
  let is_told () = String.ends_with ~suffix:"\n" (contents told) in
  Check.eventually "the folder" is_told;
  Fun.protect
    ~finally:(fun () ->
      Unix.close output;
      Check.eventually "its end" (fun () ->
          Option.is_some (Recorder.ended recorder));
      Recorder.close recorder;
      Sys.remove told)
    (fun () -> f (String.trim (contents told)) recorder)

let write file ~at text =
  let fd = Unix.openfile file [ O_WRONLY; O_CREAT ] 0o600 in
  ignore (Unix.lseek fd at SEEK_SET : int);
  Check.int "bytes" (String.length text)
    (Unix.write_substring fd text 0 (String.length text));
  Unix.close fd

let read_all recorder =
  let items = ref [] in
  Check.no "more" (Recorder.poll recorder (fun item -> items := item :: !items));
  List.rev !items

(* The events of the library. *)
let read recorder =
  List.filter
    (fun (item : Recorder.item) ->
      match item.event with Told _ -> true | Lost _ | Paused _ -> false)
    (read_all recorder)

(* How many events of the library there are. *)
let number_in text =
  recording (fun folder recorder ->
      write (Filename.concat folder "7.events") ~at:0 text;
      List.length (read recorder))

(* The head has eight words. The runtime writes them one after the other when the file already
   has its full length, and then writes the events. The recorder reads at each of these
   moments. *)
let head = 8 * 8

let growing () =
  let text = events_of "./meeting.exe" [ "3" ] in
  let length = String.length text and all = number_in text in
  Check.yes "some" (all > 3);
  recording (fun folder recorder ->
      let file = Filename.concat folder "8.events" in
      let none what = Check.int what 0 (List.length (read recorder)) in
      write file ~at:0 "";
      none "no byte";
      Unix.truncate file length;
      none "only zeros";
      none "and again";
      for word = 0 to (head / 8) - 1 do
        write file ~at:(8 * word) (String.sub text (8 * word) 8);
        none (Printf.sprintf "word %d" word)
      done;
      write file ~at:head (String.sub text head (length - head));
      let found = read recorder in
      Check.int "all of them" all (List.length found);
      none "once")

(* This simulates a program that executes another one. The new program has the same process,
   and the same file. *)
let in_one_process () =
  let first = events_of "./meeting.exe" [ "9" ]
  and second = events_of "./meeting.exe" [ "3" ] in
  recording (fun folder recorder ->
      let file = Filename.concat folder "7.events" in
      write file ~at:0 first;
      Check.int "the first" (number_in first) (List.length (read recorder));
      Check.int "nothing" 0 (List.length (read recorder));
      write file ~at:0 second;
      Check.int "the second" (number_in second) (List.length (read recorder));
      Check.int "lost" 0 (Recorder.lost recorder))

let items_of text =
  recording (fun folder recorder ->
      write (Filename.concat folder "7.events") ~at:0 text;
      read_all recorder)

let pauses () =
  let items = items_of (events_of "./collecting.exe" []) in
  let pauses wanted =
    List.filter_map
      (fun (item : Recorder.item) ->
        match item.event with
        | Paused { pause; for_ns; domain } when pause = wanted ->
            Check.yes "it takes time" (for_ns > 0);
            Some (domain, item.time_ns, item.time_ns + for_ns)
        | Paused _ | Told _ | Lost _ -> None)
      items
  in
  let minor = pauses Minor and major = pauses Major_slice in
  let on_first = List.filter (fun (domain, _, _) -> domain = 0) in
  Check.yes "minor collections" (List.length (on_first minor) >= 5);
  Check.yes "slices" (List.length (on_first major) >= 5);
  (* The parts of a pause aren't pauses themselves. *)
  let all = List.sort compare (minor @ major @ pauses Stop_the_world) in
  ignore
    (List.fold_left
       (fun (domain, until) (domain', from', until') ->
         Check.yes "apart" (domain <> domain' || until <= from');
         (domain', until'))
       (-1, 0) all
      : int * int);
  let marks (item : Recorder.item) =
    match item.event with Told (Mark { text; _ }) -> Some text | _ -> None
  in
  Check.strings "marks"
    (List.init 5 (fun i -> Printf.sprintf "collected %d times" (i + 1)))
    (List.filter_map marks items)

(* The ring of [events_of] has 4096 words, and these meetings don't fit. *)
let losses () =
  let items = items_of (events_of "./meeting.exe" [ "2000" ]) in
  let lost =
    List.filter
      (fun (item : Recorder.item) ->
        match item.event with
        | Lost { since_ns; bytes; _ } ->
            Check.yes "later" (item.time_ns > since_ns);
            Check.yes "bytes" (bytes > 0);
            true
        | Told _ | Paused _ -> false)
      items
  in
  Check.yes "told" (lost <> []);
  let { Timeline.waits; losses; _ } = Timeline.make items in
  Check.int "drawn" (List.length lost) (List.length losses);
  List.iter
    (fun (w : Timeline.wait) ->
      Check.yes "no wait that has ended is shown as waiting"
        (Option.is_some w.outcome || not w.is_sure))
    waits

let () =
  Check.run "recorder"
    [
      ( "files",
        [
          Check.test "growing" growing;
          Check.test "two programs in one process" in_one_process;
        ] );
      ( "events",
        [
          Check.test "pauses of the collector" pauses;
          Check.test "losses" losses;
        ] );
    ]
