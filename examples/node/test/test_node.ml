(* Three nodes run, each in a domain of its own. They are connected by TCP:

     node 1 -- proxy -- node 0 -- node 2 -- proxy -- node 1

   The proxies cut all connections now and then. Node 2 starts late, is stopped, and starts
   again. *)

open Concord
open Ledger
open Lwt.Syntax
module Client = Cohttp_lwt_unix.Client

let limit = 15. (* in seconds, for each wait *)

let poll what condition =
  let deadline = Unix.gettimeofday () +. limit in
  let rec wait () =
    if not (condition ()) then
      if Unix.gettimeofday () > deadline then
        Alcotest.failf "timed out: %s" what
      else (
        Unix.sleepf 0.005;
        wait ())
  in
  wait ()

let await what promise =
  match Event.sync_before limit (Promise.await_evt promise) with
  | Some v -> v
  | None -> Alcotest.failf "timed out: %s" what

(* A node starts again at the same port. So its port is below 32768, because the system gives
   the ports above that to other programs. *)
let rec free_port () =
  let port = 10_000 + Random.int 20_000 in
  match Rpc.listen ~port with
  | socket ->
      Unix.close socket;
      port
  | exception Unix.Unix_error (EADDRINUSE, _, _) -> free_port ()

let address port = `Tcp (Eio.Net.Ipaddr.V4.loopback, port)

(* --- Nodes --- *)

type world = {
  pool : Workers.t;
  lwt : unit Concord_lwt.loop;
  log : string Mailbox.t;  (** The reasons why peers were dropped. *)
}

type node = {
  ports : Service.ports;
  peers : int list;
  chain : Chain.t;
      (** The chain survives when the node stops and starts again. *)
  mutable running : (unit Promise.t * unit Promise.t) option;
      (** The promise that stops the node, and the one of its end. *)
}

let node ports peers =
  let chain = Chain.create ~difficulty:3 in
  { ports; peers; chain; running = None }

let limits =
  {
    Http_limits.max_connections = 100;
    idle_timeout = 60.;
    transfer_timeout = 10.;
  }

let start world node =
  let stop = Promise.create () in
  let main env =
    Service.run ~net:env#net ~pool:world.pool ~lwt:world.lwt
      ~log:(Mailbox.add world.log) ~stop ~ports:node.ports ~limits
      ~peers:(List.map address node.peers)
      node.chain
  in
  let ended = Promise.in_domain (fun () -> Eio_main.run main) in
  node.running <- Some (stop, ended)

let stop ?(meanwhile = ignore) node =
  let stop, ended = Option.get node.running in
  node.running <- None;
  Promise.fill stop ();
  meanwhile ended;
  await "the end of a node" ended;
  Alcotest.(check int)
    "no task is left" 0
    (Watch.waiters (Chain.head node.chain)
    + Watch.waiters (Chain.pending node.chain))

(* --- A client --- *)

(* Without this list, a machine that has no database of services wouldn't know the port of
   HTTP. *)
let context node =
  let hosts = Hashtbl.create 1 in
  Hashtbl.add hosts "node"
    (`TCP (Ipaddr.V4 Ipaddr.V4.localhost, node.ports.Service.rpc));
  Client.custom_ctx ~resolver:(Resolver_lwt_unix.static hosts) ()

let ask world node ?body path parameters =
  Concord_lwt.call world.lwt @@ fun () ->
  let ctx = context node in
  let uri =
    Uri.make ~scheme:"http" ~host:"node" ~path
      ~query:(List.map (fun (k, v) -> (k, [ v ])) parameters)
      ()
  in
  let* response, answer =
    match body with
    | None -> Client.get ~ctx uri
    | Some body -> Client.post ~ctx uri ~body:(`String body)
  in
  let+ text = Cohttp_lwt.Body.to_string answer in
  ( Cohttp.Code.code_of_status (Cohttp.Response.status response),
    String.trim text )

let answer = Alcotest.(pair int string)

let await_up world node =
  poll "a node is up" (fun () ->
      match ask world node "/head" [] with
      | 200, _ -> true
      | _ -> false
      | exception Unix.Unix_error (ECONNREFUSED, _, _) -> false)

let submit world node text =
  Alcotest.check answer "submitted" (202, "accepted")
    (ask world node "/transactions" [] ~body:text)

(* --- Proxies --- *)

(* Forwards bytes until [cuts] changes. *)
let forward ~cuts ~net ~target flow =
  let _, since = Watch.read cuts in
  let copy () =
    Eio.Switch.run @@ fun sw ->
    let other = Eio.Net.connect ~sw net (address target) in
    Eio.Fiber.first
      (fun () -> Eio.Flow.copy flow other)
      (fun () -> Eio.Flow.copy other flow)
  in
  try
    Eio.Fiber.first copy (fun () ->
        ignore (Watch.changed cuts ~since : int * Watch.version))
  with Eio.Io _ | Eio.Exn.Multiple _ -> ()

let proxies ~cuts ~stop routes =
  Promise.in_domain @@ fun () ->
  Eio_main.run @@ fun env ->
  Eio.Switch.run @@ fun sw ->
  let proxy (port, target) =
    let socket =
      Eio.Net.listen ~sw ~reuse_addr:true ~backlog:10 env#net (address port)
    in
    Eio.Net.run_server socket ~stop:(Concord_eio.to_eio stop) ~on_error:raise
      (fun flow _ -> forward ~cuts ~net:env#net ~target flow)
    |> Result.get_ok
  in
  Eio.Fiber.List.iter proxy routes

(* --- The test --- *)

let transactions (chain : Chain.t) =
  let rec back (block : Block.t) rest =
    let rest = block.transactions @ rest in
    match Chain.block chain block.parent with
    | Some parent -> back parent rest
    | None -> rest
  in
  back (Watch.get (Chain.head chain)) []

let agree nodes submitted =
  let head node = (Watch.get (Chain.head node.chain)).hash in
  let is_done node =
    String.equal (head node) (head (List.hd nodes))
    && List.for_all (fun t -> Chain.confirmed node.chain t <> None) submitted
    && Chain.Transactions.is_empty (Watch.get (Chain.pending node.chain))
  in
  List.for_all is_done nodes

(* Sends these bytes, and returns a function that reads until the other side closes the
   connection. *)
let send port text =
  let socket = Unix.(socket ~cloexec:true PF_INET SOCK_STREAM 0) in
  Unix.setsockopt_float socket SO_RCVTIMEO limit;
  Unix.connect socket (ADDR_INET (Unix.inet_addr_loopback, port));
  ignore (Unix.write_substring socket text 0 (String.length text) : int);
  let chunk = Bytes.create 1000 in
  let rec read_from start =
    match Unix.read socket chunk 0 1000 with
    | 0 | (exception Unix.Unix_error (ECONNRESET, _, _)) ->
        Unix.close socket;
        start
    | n -> read_from (start ^ Bytes.sub_string chunk 0 n)
  in
  fun () -> read_from ""

let send_garbage node =
  let read = send node.ports.Service.listen "\000\000\000\003abc" in
  ignore (read () : string)

let with_world f =
  Workers.with_workers ~domains:2 @@ fun pool ->
  Concord_lwt.with_domain Lwt.return @@ fun lwt ->
  f { pool; lwt; log = Mailbox.create () }

let ports () = { Service.listen = free_port (); rpc = free_port () }

let network () =
  with_world @@ fun world ->
  let ports = Array.init 3 (fun _ -> ports ()) in
  let proxy_0 = free_port () and proxy_1 = free_port () in
  let nodes =
    [|
      node ports.(0) [ ports.(2).listen ];
      node ports.(1) [ proxy_0 ];
      node ports.(2) [ proxy_1 ];
    |]
  in
  let cuts = Watch.create 0 and stop_proxies = Promise.create () in
  let proxies =
    proxies ~cuts ~stop:stop_proxies
      [ (proxy_0, ports.(0).listen); (proxy_1, ports.(1).listen) ]
  in
  let cut i = Watch.set cuts i in
  start world nodes.(0);
  start world nodes.(1);
  await_up world nodes.(0);
  await_up world nodes.(1);
  let submitted = List.init 90 (Printf.sprintf "pay %d") in
  let up () = List.filter (fun n -> n.running <> None) (Array.to_list nodes) in
  List.iteri
    (fun i text ->
      if i mod 10 = 5 then cut i;
      if i = 30 || i = 70 then (
        start world nodes.(2);
        await_up world nodes.(2));
      if i = 50 then stop nodes.(2);
      if i mod 20 = 7 then send_garbage nodes.(0);
      let up = up () in
      let node = List.nth up (i mod List.length up) in
      submit world node text;
      if i mod 10 = 0 then
        (* A query runs while blocks arrive. *)
        let code, _ = ask world node "/search" [ ("text", "pay") ] in
        Alcotest.(check int) "search" 200 code)
    submitted;
  poll "equal heads" (fun () -> agree (Array.to_list nodes) submitted);
  let status = ask world nodes.(1) "/search" [ ("text", "pay 1") ] in
  let expected =
    List.sort compare
      (List.filter (String.starts_with ~prefix:"pay 1") submitted)
  in
  Alcotest.check answer "search" (200, String.concat "\n" expected) status;
  Array.iter stop nodes;
  Promise.fill stop_proxies ();
  cut (-1);
  await "the end of the proxies" proxies;
  let final = List.map (fun n -> transactions n.chain) (Array.to_list nodes) in
  List.iter
    (fun final ->
      Alcotest.(check (list string))
        "each transaction once"
        (List.sort compare submitted)
        (List.sort compare final))
    final;
  Alcotest.(check (list string))
    "in the same order" (List.hd final) (List.nth final 1);
  Alcotest.(check (list string))
    "in the same order" (List.hd final) (List.nth final 2);
  let log = Mailbox.drain world.log in
  let logged text =
    List.exists (fun line -> String.ends_with ~suffix:text line) log
  in
  Alcotest.(check bool)
    "garbage" true
    (logged "97 is not the first byte of any message");
  Alcotest.(check bool) "cut" true (logged "closed the connection")

let rpc () =
  with_world @@ fun world ->
  let node = node (ports ()) [] in
  start world node;
  await_up world node;
  let ask = ask world node in
  let check name expected given = Alcotest.check answer name expected given in
  let status text = ask "/status" [ ("transaction", text) ] in
  check "genesis" (200, "0 " ^ Block.genesis.hash) (ask "/head" []);
  check "unknown" (404, "unknown") (status "tea & milk");
  (* These clients start to wait before any block exists. *)
  let wait parameters = Promise.in_thread (fun () -> ask "/wait" parameters) in
  let by_height = wait [ ("height", "1") ]
  and by_transaction =
    wait [ ("height", "1000"); ("transaction", "tea & milk") ]
  and in_vain = wait [ ("height", "1000") ] in
  poll "three clients wait" (fun () ->
      Watch.waiters (Chain.head node.chain) = 3);
  check "submitted" (202, "accepted")
    (ask "/transactions" [] ~body:"tea & milk");
  let code, first = await "the height" by_height in
  Alcotest.(check int) "the height" 200 code;
  check "the transaction" (200, first) (await "the transaction" by_transaction);
  check "confirmed" (200, "confirmed in block 1") (status "tea & milk");
  check "again" (202, "accepted") (ask "/transactions" [] ~body:"tea & milk");
  check "empty"
    (400, "a transaction of 0 bytes, but only 1 to 1000 are allowed")
    (ask "/transactions" [] ~body:"");
  List.iter
    (fun height ->
      check height
        (400, "the height must be a whole number")
        (ask "/wait" [ ("height", height) ]))
    [ ""; "-1"; "+1"; "1_0"; "0x1"; "x" ];
  check "nothing"
    (404, "try /head, /status, /search, /wait or /transactions")
    (ask "/" []);
  (* The request starts before the node is told to stop, and it waits for a reader to
     finish. *)
  let reads = Promise.create () and release = Promise.create () in
  let reader =
    Promise.in_thread (fun () ->
        Chain.matching node.chain (fun _ ->
            Promise.fill reads ();
            Promise.await release;
            true))
  in
  await "a reader" reads;
  let read =
    send node.ports.rpc
      "POST /transactions HTTP/1.1\r\n\
       Host: node\r\n\
       Content-Length: 4\r\n\
       \r\n\
       late"
  in
  check "others" (200, first) (ask "/head" []);
  stop node ~meanwhile:(fun ended ->
      Alcotest.(check bool)
        "a request keeps the node from ending" true
        (Event.sync_before 0.05 (Promise.await_evt ended) = None);
      Promise.fill release ());
  Alcotest.(check (list string)) "read" [ "tea & milk" ] (await "read" reader);
  Alcotest.(check bool)
    "answered" true
    (String.starts_with ~prefix:"HTTP/1.1 202 " (read ()));
  check "stopped" (504, "not yet") (await "the last answer" in_vain)

(* The search would take years, so the transactions stay pending, and the nodes send them to
   each other. *)
let hopeless () =
  with_world @@ fun world ->
  let node ports peers =
    { (node ports peers) with chain = Chain.create ~difficulty:16 }
  in
  let one = node (ports ()) [] in
  let other = node (ports ()) [ one.ports.listen ] in
  let await_pending node text =
    poll (text ^ " is pending") (fun () ->
        Chain.Transactions.mem text (Watch.get (Chain.pending node.chain)))
  in
  start world one;
  await_up world one;
  submit world one "before";
  Alcotest.check answer "pending" (200, "pending")
    (ask world one "/status" [ ("transaction", "before") ]);
  start world other;
  await_up world other;
  await_pending other "before";
  submit world one "after";
  await_pending other "after";
  submit world other "back";
  await_pending one "back";
  (* The two waiters are the miner and the fiber of the connection. *)
  let waiters node = Watch.waiters (Chain.head node.chain) in
  poll "both search" (fun () -> waiters one = 2 && waiters other = 2);
  stop one;
  stop other

let () =
  Random.self_init ();
  let case name f = Alcotest.test_case name `Quick f in
  Alcotest.run "node"
    [
      ("one node", [ case "rpc" rpc; case "hopeless search" hopeless ]);
      ("three nodes", [ case "network" network ]);
    ]
