(* What happens when no descriptor is left, or no thread can be started. Each case is this program
   in a process of its own, with a limit that the shell sets. With no_file_in_system.c, the limit
   is that of the whole system (ENFILE). *)

open Concord
open Concord_test_support
open Check
open Support

(* In a child. Alcotest's own checks write to the standard error. *)
let same what expected found =
  if found <> expected then Alcotest.failf "%s is another one" what

let shared_limit = Sys.getenv_opt "LD_PRELOAD" <> None
let limit_error = if shared_limit then Unix.ENFILE else EMFILE

let is_full name arg f =
  match f () with
  | _ -> Alcotest.failf "%s succeeds" name
  | exception Unix.Unix_error (error, function_, arg')
    when error = limit_error && function_ = name && arg' = arg ->
      ()

let in_loop f () = Aio.run f
let in_eio f () = Eio_main.run (fun _ -> f ())

(* --- The server ------------------------------------------------------------------ *)

(* The standard error is a file. *)
let told () = (Unix.fstat Unix.stderr).st_size

let ask address text =
  let peer = client address in
  put peer text;
  let answer = get peer in
  Aio.close peer;
  same "the answer" text answer

(* The peer is connected, but there is no descriptor for the server's end. *)
let shortage address =
  let peer = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  let before = told () in
  exhausted (fun () ->
      Aio.connect peer address;
      put peer "late";
      eventually "it tells" ~pause (fun () -> told () > before);
      let told_then = told () and time = Sys.time () in
      Tasks.sleep 0.2;
      if Sys.time () -. time > 0.05 then Alcotest.fail "it spins";
      same "what it told" told_then (told ()));
  same "the answer" "late" (get peer);
  Aio.close peer

let server () =
  let listener, address = listening () and stop = Promise.create () in
  let serve fd _ = put fd (get fd) in
  let server () = Aio.run_server ~stop:(Promise.await_evt stop) listener serve
  and clients () =
    ask address "before";
    shortage address;
    shortage address;
    ask address "after";
    Promise.fill stop ()
  in
  ignore (Tasks.both server clients : unit * unit)

let two_lines error =
  let line =
    Printf.sprintf
      "Concord_aio.run_server: no descriptor or memory is left for the next \
       connection (%s), so it waits. Raise the limit (ulimit -n), or pass a \
       smaller ~connections\n"
      (Unix.error_message error)
  in
  line ^ line

(* --- Clients and processes ------------------------------------------------------- *)

let connects () =
  let listener, address = listening () in
  let port =
    match address with
    | ADDR_INET (_, port) -> string_of_int port
    | ADDR_UNIX _ -> assert false (* it listens on an internet address *)
  in
  let connect host () = Aio.connect_by_name host port in
  exhausted (fun () ->
      List.iter
        (fun host -> is_full "connect_by_name" host (connect host))
        [ "127.0.0.1"; "localhost" ]);
  Aio.close (connect "127.0.0.1" ());
  Aio.close listener

let processes () =
  let echo () =
    Aio.with_process "echo" [| "echo"; "hello" |] (fun _ from_it ->
        Aio.input_line from_it)
  in
  let works () =
    let line, status = echo () in
    same "the line" "hello" line;
    same "the status" (Unix.WEXITED 0) status
  in
  works ();
  let before = descriptors () in
  for left = 0 to 3 do
    let all = exhaust () in
    let rec free n = function
      | fd :: others when n > 0 ->
          Unix.close fd;
          free (n - 1) others
      | others -> others
    in
    let all = free left all in
    is_full "with_process" "echo" echo;
    List.iter Unix.close all
  done;
  same "the number of descriptors" before (descriptors ());
  works ()

let threads_now () = List.length (Concord_test_proc.entries "self/task")

(* Without a descriptor for the process, a thread waits for it. *)
let waits () =
  let its_input, to_it = Unix.pipe ~cloexec:true () in
  let pid =
    Unix.create_process "cat" [| "cat" |] its_input Unix.stdout Unix.stderr
  in
  let before = threads_now () in
  let all = exhaust () in
  let (pid', status), () =
    Tasks.both
      (fun () -> Aio.waitpid [] pid)
      (fun () ->
        (* To look at the threads needs a descriptor. *)
        Unix.close its_input;
        eventually "a thread waits" ~pause (fun () -> threads_now () > before);
        Unix.close to_it)
  in
  List.iter Unix.close all;
  same "the process" pid pid';
  same "the status" (Unix.WEXITED 0) status

(* --- Threads --------------------------------------------------------------------- *)

let message =
  "Concord.Blocking: no thread can be started for a call of names \
   (Thread.create: Resource temporarily unavailable). Raise the limit of \
   threads or memory, or create the pool with a smaller ~threads"

(* The stack of a thread would be larger than the address space. *)
let threads () =
  let pool = Blocking.create ~name:"names" () in
  let call () = Blocking.run ~pool Fun.id in
  match (call (), call ()) with
  | _ -> Alcotest.fail "a thread is started"
  | exception Sys_error reason -> if reason <> message then prerr_endline reason

(* --- The processes --------------------------------------------------------------- *)

let few = "ulimit -n 60"
let few_in_system = few ^ " && export LD_PRELOAD=./no_file_in_system.so"

(* If the limit can't be set, the case is left out. *)
let no_threads = "ulimit -S -s 137438953472 2>/dev/null || exit 0; true"

let without_descriptors =
  [
    ("server", server, two_lines);
    ("connect_by_name", connects, fun _ -> "");
    ("processes", processes, fun _ -> "");
    ("waitpid", waits, fun _ -> "");
  ]

let on_hosts =
  [
    ("", few, Unix.EMFILE, fun f -> f);
    (" in a loop", few, Unix.EMFILE, in_loop);
    (" in Eio", few, Unix.EMFILE, in_eio);
  ]
  @
  if Sys.file_exists "no_file_in_system.so" then
    [
      (" in a full system", few_in_system, Unix.ENFILE, fun f -> f);
      (" in Eio in a full system", few_in_system, ENFILE, in_eio);
    ]
  else []

let children =
  ("threads", no_threads, threads, "")
  :: ("threads in Eio", no_threads, in_eio threads, "")
  :: List.concat_map
       (fun (name, f, expected) ->
         List.map
           (fun (where, limit, error, host) ->
             (name ^ where, limit, host f, expected error))
           on_hosts)
       without_descriptors

let read_all name = In_channel.with_open_bin name In_channel.input_all

let in_process name limit expected () =
  temp @@ fun errors ->
  let command =
    limit ^ " && exec "
    ^ Filename.quote_command Sys.executable_name ~stderr:errors
        [ "--child"; name ]
  in
  let code = Sys.command command in
  Alcotest.(check (pair int string))
    "the child" (0, expected)
    (code, read_all errors)

let () =
  match Sys.argv with
  | [| _; "--child"; name |] ->
      let run (n, _, f, _) = if n = name then f () in
      List.iter run children
  | _ ->
      let case (name, limit, _, expected) =
        test name (in_process name limit expected)
      in
      Check.run "aio: no descriptor or thread is left"
        [ ("processes", List.map case children) ]
