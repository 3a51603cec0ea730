(* Tests the real program against clients and peers that misbehave. *)

open Http_cases

let limit = 30. (* in seconds, for each wait *)

let poll what condition =
  let deadline = Unix.gettimeofday () +. limit in
  let rec wait () =
    if not (condition ()) then
      if Unix.gettimeofday () > deadline then
        Alcotest.failf "timed out: %s" what
      else (
        Unix.sleepf 0.01;
        wait ())
  in
  wait ()

let read_file file = In_channel.with_open_bin file In_channel.input_all

(* Below 32768, because the system gives the ports above that to other programs. *)
let rec free_port () =
  let port = 10_000 + Random.int 20_000 in
  match Ledger.Rpc.listen ~port with
  | socket ->
      Unix.close socket;
      port
  | exception Unix.Unix_error (EADDRINUSE, _, _) -> free_port ()

type node = { pid : int; port : int; rpc : int; stderr : string }

let is_listening port =
  match Raw.connect port with
  | client ->
      Raw.close client;
      true
  | exception Unix.Unix_error (ECONNREFUSED, _, _) -> false

let start ?(descriptors = 1000) options =
  let port = free_port () and rpc = free_port () in
  let stderr = Filename.temp_file "node" ".stderr" in
  at_exit (fun () -> Sys.remove stderr);
  let stderr_fd = Unix.openfile stderr [ O_WRONLY; O_CLOEXEC ] 0 in
  let script = Printf.sprintf "ulimit -n %d; exec \"$0\" \"$@\"" descriptors in
  let command =
    [ "/bin/sh"; "-c"; script; "../node.exe"; "--difficulty=2" ]
    @ [ Printf.sprintf "--port=%d" port; Printf.sprintf "--rpc=%d" rpc ]
    @ options
  in
  let pid =
    Unix.create_process "/bin/sh" (Array.of_list command) Unix.stdin Unix.stdout
      stderr_fd
  in
  Unix.close stderr_fd;
  at_exit (fun () ->
      try Unix.kill pid Sys.sigkill with Unix.Unix_error _ -> ());
  poll "a node is up" (fun () -> is_listening port && is_listening rpc);
  { pid; port; rpc; stderr }

let complaints node =
  List.filter (( <> ) "") (String.split_on_char '\n' (read_file node.stderr))

(* Returns the seconds from the signal to the exit. *)
let stop node =
  let before = Unix.gettimeofday () in
  Unix.kill node.pid Sys.sigterm;
  let status = ref None in
  poll "the end of the node" (fun () ->
      match Unix.waitpid [ WNOHANG ] node.pid with
      | 0, _ -> false
      | _, ended ->
          status := Some ended;
          true);
  Alcotest.(check bool) "exit code 0" true (!status = Some (WEXITED 0));
  Unix.gettimeofday () -. before

(* Peers that leave are logged, too. *)
let is_fault line =
  List.exists
    (fun prefix -> String.starts_with ~prefix line)
    [ "Fatal error"; "node: cannot accept"; "node: the end took longer" ]
  || List.mem "fault" (String.split_on_char ' ' line)

let on_port options f =
  let node = start options in
  f node.rpc;
  ignore (stop node : float);
  Alcotest.(check (list string))
    "complaints" []
    (List.filter is_fault (complaints node))

let submit node text =
  let client = Raw.connect node.rpc in
  Raw.send client
    (Printf.sprintf
       "POST /transactions HTTP/1.1\r\n\
        Host: test\r\n\
        Content-Length: %d\r\n\
        \r\n\
        %s"
       (String.length text) text);
  Alcotest.(check int) "submitted" 202 (Raw.receive client).status;
  Raw.send client
    (Printf.sprintf "GET /wait?transaction=%s HTTP/1.1\r\nHost: test\r\n\r\n"
       text);
  Alcotest.(check int) "confirmed" 200 (Raw.receive client).status;
  Raw.close client

(* More clients and peers come than the node has descriptors. They say nothing. *)
let idle () =
  let node = start ~descriptors:80 [] in
  submit node "before";
  let connect port = List.init 90 (fun _ -> Raw.connect port) in
  let peers = connect node.port in
  let clients = connect node.rpc in
  let cannot line = String.starts_with ~prefix:"node: cannot accept" line in
  poll "a failed accept" (fun () -> List.exists cannot (complaints node));
  List.iter Raw.close (peers @ clients);
  submit node "after";
  let peer = Raw.connect node.port in
  Raw.close peer;
  ignore (stop node : float)

(* Peers whose messages are wrong in several ways. *)
let garbage () =
  let node = start [] in
  List.iter
    (fun text ->
      let peer = Raw.connect node.port in
      Raw.send peer text;
      Raw.drain peer)
    [
      "\255\255\255\255";
      "\000\000\000\000";
      "\000\000\000\001\007";
      "\000\000\000\003abc";
      "\000\000\000\005\002\127\255\255\255";
      "\000\000\000\t\000\255\255\255\255\255\255\255\255";
      "\000\000\000\t\000\127\255\255\255\255\255\255\255";
      "\001\000\000\000";
    ];
  submit node "after";
  ignore (stop node : float)

let last_block node =
  let client = Raw.connect node.rpc in
  Raw.send client "GET /head HTTP/1.1\r\nHost: test\r\n\r\n";
  let answer = Raw.receive client in
  Raw.close client;
  match String.split_on_char ' ' (String.trim answer.body) with
  | [ _height; hash ] -> hash
  | _ -> Alcotest.failf "the head is %S" answer.body

(* Neither clients nor peers that read nothing keep the node from ending. *)
let deaf () =
  let node = start [ "--transfer-timeout=1" ] in
  for i = 1 to 100 do
    submit node (Printf.sprintf "%d%s" i (String.make 900 'x'))
  done;
  let clients =
    List.init 10 (fun _ -> Raw.connect ~receive_buffer:4096 node.rpc)
  in
  List.iter
    (fun client ->
      Raw.fill client "GET /search?text=x HTTP/1.1\r\nHost: t\r\n\r\n")
    clients;
  (* The peers ask for the last block, which has a long transaction, again and again. *)
  let peers =
    List.init 3 (fun _ -> Raw.connect ~receive_buffer:4096 node.port)
  in
  let wanted = "\001\000\000\000\064" ^ last_block node in
  List.iter (fun peer -> Raw.fill peer ("\000\000\000\069" ^ wanted)) peers;
  ignore (stop node : float);
  List.iter Raw.close (clients @ peers);
  Alcotest.(check bool)
    "cut short" false
    (List.exists
       (fun line -> String.starts_with ~prefix:"node: the end took longer" line)
       (complaints node))

let () =
  Random.self_init ();
  let case name f = Alcotest.test_case name `Quick f in
  Alcotest.run "node, the program"
    (Http_shapes.cases on_port
       { page = "/head"; post = "/transactions"; posted = 202 }
    @ [
        ( "misbehaviour",
          [
            case "idle clients and peers" idle;
            case "garbage" garbage;
            case "deaf clients" deaf;
          ] );
      ])
