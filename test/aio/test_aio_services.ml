(* Servers, clients, files and processes, on real descriptors. *)

open Concord
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

let loopback port = Unix.ADDR_INET (Unix.inet_addr_loopback, port)

let listener ?(backlog = 50) () =
  let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.bind fd (loopback 0);
  Unix.listen fd backlog;
  fd

let client listener =
  let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Aio.connect fd (Unix.getsockname listener);
  fd

let in_run f = leaves_none_open (fun () -> Aio.run f)
let in_eio f = leaves_none_open (fun () -> Eio_main.run (fun _ -> f ()))

(* The descriptors of the pollers stay. *)
let () =
  let wait () =
    with_pipe (fun from to_ ->
        ignore (Tasks.with_timeout 0.001 (fun () -> get from) : string option);
        List.iter Aio.close [ from; to_ ])
  in
  Thread.join (Thread.create (fun () -> Concord_fifo.run wait) ());
  Aio.run wait

(* --- Servers -------------------------------------------------------------------- *)

let echo fd _ = put fd (String.uppercase_ascii (get fd))

let ask listener text =
  let fd = client listener in
  put fd text;
  let answer = get fd in
  Aio.close fd;
  answer

(* At most two are served at a time, and each of five is. *)
let bounded () =
  let listener = listener () and stop = Promise.create () in
  let now = Atomic.make 0 and most = ref 0 and started = Atomic.make 0 in
  let gate = Promise.create () in
  let serve fd peer =
    most := Int.max !most (1 + Atomic.fetch_and_add now 1);
    Atomic.incr started;
    Promise.await gate;
    echo fd peer;
    Atomic.decr now
  in
  let server () =
    Aio.run_server ~connections:2 ~stop:(Promise.await_evt stop) listener serve
  and clients () =
    let opener () =
      eventually "two are served" ~pause (fun () -> Atomic.get started = 2);
      (* the others have the time to be accepted, if nothing kept them *)
      for _ = 1 to 20 do
        pause ()
      done;
      Promise.fill gate ()
    in
    Scope.run (fun scope ->
        Scope.fork scope opener;
        strings "the answers"
          [ "A"; "B"; "C"; "D"; "E" ]
          (Tasks.map (ask listener) [ "a"; "b"; "c"; "d"; "e" ]));
    Promise.fill stop ()
  in
  ignore (Tasks.both server clients : unit * unit);
  int "at a time" 2 !most;
  int "all have ended" 0 (Atomic.get now);
  Aio.close listener

(* What a connection raises doesn't end the server. *)
let failing () =
  let listener = listener () and stop = Promise.create () in
  let errors = ref [] in
  let serve fd peer =
    match get fd with
    | "bad" -> failwith "a bad peer"
    | s ->
        put fd s;
        ignore peer
  in
  let server () =
    Aio.run_server
      ~on_error:(fun _ e -> errors := Printexc.to_string e :: !errors)
      ~stop:(Promise.await_evt stop) listener serve
  and clients () =
    let bad = ask listener "bad" in
    let good = ask listener "good" in
    strings "the answers" [ ""; "good" ] [ bad; good ];
    Promise.fill stop ()
  in
  ignore (Tasks.both server clients : unit * unit);
  strings "the errors" [ "Failure(\"a bad peer\")" ] !errors;
  Aio.close listener

(* Cancelling ends the connections, and that isn't an error of theirs. *)
let cancelled () =
  let listener = listener () and errors = ref 0 in
  let served = Promise.create () in
  let serve fd _ =
    Promise.fill served ();
    ignore (get fd : string)
  in
  let server () =
    Aio.run_server ~on_error:(fun _ _ -> incr errors) listener serve
  in
  let peer = client listener in
  let ended = Tasks.first server (fun () -> Promise.await served) in
  ended;
  Alcotest.(check string) "the client is disconnected" "" (get peer);
  int "errors" 0 !errors;
  List.iter Aio.close [ peer; listener ];
  match Aio.run_server listener serve with
  | () -> Alcotest.fail "it serves a closed socket"
  | exception Unix.Unix_error (EBADF, _, _) -> ()

(* Stopping waits for the connections. *)
let stopped () =
  let listener = listener () and stop = Promise.create () in
  let served = Promise.create () and ended = ref false in
  let serve fd peer =
    Promise.fill served ();
    echo fd peer;
    ended := true
  in
  let server () =
    Aio.run_server ~stop:(Promise.await_evt stop) listener serve;
    yes "the connection has ended" !ended
  and peer () =
    let fd = client listener in
    Promise.await served;
    Promise.fill stop ();
    pause ();
    put fd "late";
    Alcotest.(check string) "the answer" "LATE" (get fd);
    Aio.close fd
  in
  ignore (Tasks.both server peer : unit * unit);
  Aio.close listener

(* --- Descriptors that are closed by the function that gets them ----------------- *)

let open_one _ = Unix.openfile "/dev/null" [ O_RDONLY; O_CLOEXEC ] 0

let ways =
  let by_channels ?(used = false) () fd =
    let ic = Aio.in_channel_of_descr fd and oc = Aio.out_channel_of_descr fd in
    if used then Aio.output_string oc "a line\n";
    Aio.close_out oc;
    Aio.close_in ic
  in
  [
    ("Unix.close", Unix.close);
    ("close", Aio.close);
    ("channels", by_channels ());
    ("channels in use", by_channels ~used:true ());
  ]

(* The number belongs to one of the other files at once. All must stay open. With [used], the
   library learns that before the function ends. *)
let taking_over ~used close others fd =
  close fd;
  others := List.init 6 open_one;
  yes "the number is used again" (List.mem fd !others);
  if used then
    List.iter
      (fun fd -> int "empty" 0 (Aio.read fd (Bytes.create 1) 0 1))
      !others

let are_open name others =
  List.iter
    (fun fd ->
      match Aio.close fd with
      | () -> ()
      | exception Unix.Unix_error (EBADF, _, _) ->
          Alcotest.failf "%s: another file is closed" name)
    others

let each_way f () =
  List.iter
    (fun (name, close) ->
      List.iter
        (fun used ->
          let others = ref [] in
          f (taking_over ~used close others);
          are_open name !others)
        [ false; true ])
    ways

let by_server take_over =
  let listener = listener () and stop = Promise.create () in
  let taken = Promise.create () in
  let serve fd _ =
    match take_over fd with
    | () -> Promise.fill taken ()
    | exception e -> Promise.fail taken e
  in
  let server () = Aio.run_server ~stop:(Promise.await_evt stop) listener serve
  and a_client () =
    let peer = client listener in
    Promise.await taken;
    Aio.close peer;
    Promise.fill stop ()
  in
  ignore (Tasks.both server a_client : unit * unit);
  Aio.close listener

let by_file take_over =
  temp (fun name -> Aio.with_file name [ O_RDWR ] 0 take_over)

(* --- Clients -------------------------------------------------------------------- *)

let info ?(family = Unix.PF_INET) address : Unix.addr_info =
  {
    ai_family = family;
    ai_socktype = SOCK_STREAM;
    ai_protocol = 0;
    ai_addr = address;
    ai_canonname = "";
  }

let by_name ?delay addresses =
  Aio.connect_by_name ?delay
    ~resolve:(fun _ _ -> List.map info addresses)
    "host" "80"

(* The port of a socket that doesn't listen refuses. *)
let with_refusing f =
  let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.bind fd (loopback 0);
  Fun.protect
    ~finally:(fun () -> Aio.close fd)
    (fun () -> f (Unix.getsockname fd))

(* Once the queue of a listening socket is full, it doesn't answer. *)
let with_silent f =
  let fd = listener ~backlog:0 () in
  let fill () =
    let peer = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
    Unix.set_nonblock peer;
    (try Unix.connect peer (Unix.getsockname fd)
     with Unix.Unix_error (EINPROGRESS, _, _) -> ());
    peer
  in
  let peers = List.init 4 (fun _ -> fill ()) in
  Fun.protect
    ~finally:(fun () -> List.iter Aio.close (fd :: peers))
    (fun () -> f (Unix.getsockname fd))

let reaches listener fd =
  Alcotest.(check bool)
    "the peer" true
    (Unix.getpeername fd = Unix.getsockname listener);
  List.iter Aio.close [ fd; listener ]

let after_refusal () =
  with_refusing @@ fun refusing ->
  let listener = listener () in
  reaches listener
    (by_name ~delay:infinity [ refusing; Unix.getsockname listener ])

let after_silence () =
  with_silent @@ fun silent ->
  let listener = listener () in
  reaches listener (by_name ~delay:0.01 [ silent; Unix.getsockname listener ])

let nobody () =
  with_refusing (fun refusing ->
      match by_name [ refusing; refusing ] with
      | (_ : Unix.file_descr) -> Alcotest.fail "it is connected"
      | exception Unix.Unix_error (ECONNREFUSED, _, _) -> ());
  match by_name [] with
  | (_ : Unix.file_descr) -> Alcotest.fail "it is connected"
  | exception Unix.Unix_error (EHOSTUNREACH, _, "host") -> ()

let impatient () =
  with_silent @@ fun silent ->
  let connect () = by_name ~delay:0.001 [ silent; silent ] in
  yes "too late" (Tasks.with_timeout 0.05 connect = None)

(* After the first address comes one of the other family, not the second one. *)
let by_turns () =
  with_refusing @@ fun refusing ->
  with_silent @@ fun silent ->
  let name = Filename.temp_file "concord" "socket" in
  Sys.remove name;
  let listener = Unix.socket ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  Unix.bind listener (ADDR_UNIX name);
  Unix.listen listener 5;
  let addresses =
    [ info refusing; info silent; info ~family:PF_UNIX (Unix.ADDR_UNIX name) ]
  in
  let fd =
    Aio.connect_by_name ~delay:infinity ~resolve:(fun _ _ -> addresses) "" ""
  in
  yes "the peer" (Unix.getpeername fd = ADDR_UNIX name);
  List.iter Aio.close [ fd; listener ];
  Sys.remove name

let localhost () =
  let listener = listener () in
  match Unix.getsockname listener with
  | ADDR_UNIX _ -> assert false
  | ADDR_INET (_, port) ->
      (* if localhost has an address of IPv6, it refuses *)
      reaches listener (Aio.connect_by_name "localhost" (string_of_int port))

(* A short message behind another one isn't kept back. *)
let at_once () =
  let listener = listener () and stop = Promise.create () in
  let is_at_once fd = Unix.getsockopt fd TCP_NODELAY in
  let serve fd _ = put fd (string_of_bool (is_at_once fd)) in
  let server () = Aio.run_server ~stop:(Promise.await_evt stop) listener serve
  and a_client () =
    let fd = by_name [ Unix.getsockname listener ] in
    yes "by name" (is_at_once fd);
    Alcotest.(check string) "by the server" "true" (get fd);
    Aio.close fd;
    Promise.fill stop ()
  in
  ignore (Tasks.both server a_client : unit * unit);
  Aio.close listener

(* --- Files ---------------------------------------------------------------------- *)

let files () =
  let folder = Filename.temp_dir "concord" "files" in
  let name = Filename.concat folder "a" in
  let fd = Aio.openfile name [ O_RDWR; O_CREAT ] 0o600 in
  let text = Bytes.init 200_000 (fun i -> Char.chr (i land 255)) in
  Aio.pwrite fd ~at:1000 text 0 200_000;
  Aio.fsync fd;
  int "the size" 201_000 (Aio.stat name).st_size;
  let b = Bytes.make 10 '.' in
  int "read" 5 (Aio.pread fd ~at:(1000 + 255) b 2 5);
  Alcotest.(check string)
    "at its place" "..\255\000\001\002\003..." (Bytes.to_string b);
  int "at the end" 0 (Aio.pread fd ~at:201_000 b 0 10);
  int "the position" 0 (Unix.lseek fd 0 SEEK_CUR);
  int "at most" 65_536 (Aio.pread fd ~at:0 (Bytes.create 100_000) 0 100_000);
  List.iter
    (fun f ->
      match f () with
      | () -> Alcotest.fail "a negative position"
      | exception Unix.Unix_error (EINVAL, _, _) -> ())
    [
      (fun () -> Aio.pwrite fd ~at:(-1) b 0 1);
      (fun () -> ignore (Aio.pread fd ~at:(-1) b 0 1 : int));
    ];
  raises "not in the bytes" (Invalid_argument "Concord_aio.pread") (fun () ->
      Aio.pread fd ~at:0 b 5 6);
  Aio.close fd;
  yes "closed" (is_closed (fun () -> Aio.fsync fd));
  Unix.symlink "a" (Filename.concat folder "link");
  yes "a link" ((Aio.lstat (Filename.concat folder "link")).st_kind = S_LNK);
  Aio.mkdir (Filename.concat folder "inner") 0o700;
  let renamed = Filename.concat folder "inner/b" in
  Aio.rename name renamed;
  strings "the folder" [ "inner"; "link" ]
    (List.sort compare (Aio.readdir folder));
  strings "the inner one" [ "b" ] (Aio.readdir (Filename.concat folder "inner"));
  Aio.unlink renamed;
  Aio.unlink (Filename.concat folder "link");
  Aio.rmdir (Filename.concat folder "inner");
  Aio.rmdir folder;
  List.iter
    (fun f ->
      match f folder with
      | () -> Alcotest.fail "it is gone"
      | exception Unix.Unix_error (ENOENT, _, _) -> ())
    [
      (fun f -> ignore (Aio.stat f : Unix.stats));
      (fun f -> ignore (Aio.readdir f : string list));
      Aio.unlink;
      Aio.rmdir;
    ]

(* While all threads are taken, other tasks run, and an operation that hasn't begun can be
   cancelled. *)
let not_in_the_loop () =
  let release = Promise.create () and begun = Atomic.make 0 in
  let take () =
    Atomic.incr begun;
    Promise.await release
  in
  let folder = Filename.temp_dir "concord" "busy" in
  let remove () = Aio.rmdir folder in
  Scope.run (fun scope ->
      for _ = 1 to 64 do
        Scope.fork scope (fun () ->
            Concord_aio__Blocking_threads.run Files take)
      done;
      eventually "the threads are taken" ~pause (fun () ->
          Atomic.get begun = 64);
      yes "too late" (Tasks.with_timeout 0.01 remove = None);
      Promise.fill release ());
  yes "not removed" (Sys.file_exists folder);
  remove ()

(* --- Processes ------------------------------------------------------------------ *)

let spawn script =
  let from, to_ = Unix.pipe ~cloexec:true () in
  let pid =
    Unix.create_process "sh" [| "sh"; "-c"; script |] from Unix.stdout
      Unix.stderr
  in
  Unix.close from;
  (pid, to_)

let waited () =
  let pid, to_ = spawn "read x; exit 3" in
  let wait () = snd (Aio.waitpid [] pid) in
  yes "it goes on" (Tasks.with_timeout 0.005 wait = None);
  yes "not yet" (Aio.waitpid [ WNOHANG ] pid = (0, WEXITED 0));
  let ended, () =
    Tasks.both wait (fun () ->
        put to_ "x\n";
        Aio.close to_)
  in
  yes "the status" (ended = WEXITED 3);
  match wait () with
  | (_ : Unix.process_status) -> Alcotest.fail "it was waited for"
  | exception Unix.Unix_error (ECHILD, _, _) -> ()

(* Where no descriptor says that the process has ended, a thread waits. *)
let by_thread () =
  let stopping, to_ = spawn "kill -STOP $$; exit 4" in
  Unix.close to_;
  yes "it is stopped"
    (Aio.waitpid [ WUNTRACED ] stopping = (stopping, WSTOPPED Sys.sigstop));
  Unix.kill stopping Sys.sigcont;
  yes "it has ended" (Aio.waitpid [ WUNTRACED ] stopping = (stopping, WEXITED 4));
  let any, to_ = spawn "read x; exit 5" in
  let ended, () =
    Tasks.both
      (fun () -> Aio.waitpid [] 0)
      (fun () ->
        pause ();
        Unix.close to_)
  in
  yes "any process" (ended = (any, WEXITED 5))

(* The number of the closed end belongs to one of the other files at once. All must stay open. *)
let upper text to_it from_it =
  Aio.output_string to_it text;
  Aio.close_out to_it;
  let others = List.init 6 open_one in
  (Aio.input_line from_it, others)

let piped () =
  let (answer, others), status =
    Aio.with_process "tr" [| "tr"; "a-z"; "A-Z" |] (upper "hello\n")
  in
  Alcotest.(check string) "the answer" "HELLO" answer;
  yes "the status" (status = WEXITED 0);
  List.iter Unix.close others;
  let (), status =
    Aio.with_process ~env:[| "STATUS=7" |] "/bin/sh"
      [| "sh"; "-c"; "exit $STATUS" |] (fun _ _ -> ())
  in
  yes "the environment" (status = WEXITED 7)

(* The process would run forever, and doesn't read. *)
let killed () =
  let pid = ref 0 in
  let f to_it from_it =
    pid := int_of_string (Aio.input_line from_it);
    Aio.output_string to_it (String.make 100 'x');
    Aio.input_line from_it
  in
  let talk () =
    Aio.with_process "sh" [| "sh"; "-c"; "echo $$; exec sleep 1000" |] f
  in
  yes "cancelled" (Tasks.with_timeout 0.2 talk = None);
  yes "it was started" (!pid > 0);
  raises "it has ended"
    (Unix.Unix_error (ESRCH, "kill", ""))
    (fun () -> Unix.kill !pid 0);
  raises "a failure" Exit (fun () ->
      Aio.with_process "sleep" [| "sleep"; "1000" |] (fun _ _ -> raise Exit))

let () =
  let cases names run = List.map (fun (name, f) -> test name (run f)) names in
  let servers =
    [
      ("a bound", bounded);
      ("a failure", failing);
      ("cancelled", cancelled);
      ("stopped", stopped);
      ("closed by the function", each_way by_server);
    ]
  and clients =
    [
      ("after a refusal", after_refusal);
      ("after silence", after_silence);
      ("nobody answers", nobody);
      ("cancelled", impatient);
      ("by turns", by_turns);
      ("localhost", localhost);
      ("at once", at_once);
    ]
  and others =
    [
      ("files", files);
      ("a file is closed by the function", each_way by_file);
      ("not in the loop", not_in_the_loop);
      ("a process is waited for", waited);
      ("a thread waits for a process", by_thread);
      ("a process with pipes", piped);
      ("a process is killed", killed);
    ]
  in
  Check.run "aio: services"
    [
      ("servers", cases servers in_run);
      ("servers in Eio", cases servers in_eio);
      ("clients", cases clients in_run);
      ("clients in Eio", cases clients in_eio);
      ("files and processes", cases others in_run);
      ("in a thread", cases others leaves_none_open);
    ]
