open Process
open Asking

let connection_limit t =
  let first = Raw.connect t.port in
  Raw.send first (get "/ping");
  check_answer first "pong";
  let second = Raw.connect t.port in
  Raw.send second (get "/fib/10");
  Raw.check_silent second;
  Raw.send first (get "/fib/20");
  check_answer first "6765";
  Raw.close first;
  check_answer second "55";
  Raw.close second

let descriptor_limit program () =
  let t = start program [] ~limit:64 in
  let clients =
    List.init 200 (fun _ ->
        let client = Raw.connect t.port in
        Raw.send client (get "/ping");
        client)
  in
  poll "a failed accept" (fun () -> complaints t <> "");
  let computed = cpu_seconds t in
  Raw.check_silent (List.nth clients 199);
  (* A server that tries again at once would compute for a second meanwhile. *)
  Unix.sleepf 0.8;
  (match (computed, cpu_seconds t) with
  | Some before, Some after ->
      let text = Printf.sprintf "%g s of computing" (after -. before) in
      Alcotest.(check bool) text true (after -. before < 0.3)
  | _ -> ());
  (* When the accepted clients leave, the other clients are served. *)
  List.iter
    (fun client ->
      check_answer client "pong";
      Raw.close client)
    clients;
  terminate t;
  check_int "exit code" 0 (await_exit t);
  check_string "standard error"
    (name program ^ ": cannot accept: Too many open files\n")
    (complaints t)

let port_in_use t =
  let code, output = run_beside t [ "--port"; string_of_int t.port ] in
  check_int "exit code" 1 code;
  check_string "message"
    (Printf.sprintf
       "%s: cannot listen on 127.0.0.1 port %d: Address already in use\n"
       (name t.program) t.port)
    output
