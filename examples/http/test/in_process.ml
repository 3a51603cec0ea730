open Asking
open Http_message

(* --- A handler that fails --- *)

let listener ~backlog =
  let socket = Unix.(socket ~cloexec:true PF_INET SOCK_STREAM 0) in
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, 0));
  Unix.listen socket backlog;
  match Unix.getsockname socket with
  | ADDR_INET (_, port) -> (socket, port)
  | ADDR_UNIX _ -> assert false (* [bind] was given an internet address *)

exception Oh_no

(* Each request fails in its own function, after both requests have started. *)

let[@inline never] fail_left meet =
  meet ();
  raise Oh_no

let[@inline never] fail_right meet =
  meet ();
  raise Oh_no

let[@inline never] fail meet (request : Http.Request.t) _body =
  Sys.opaque_identity
    (if request.resource = "/left" then fail_left meet else fail_right meet)

(* The lines of a backtrace, without their positions in files. *)
let functions text =
  let without_place line =
    match String.split_on_char ' ' line with
    | how :: at :: name :: "in" :: _ -> String.concat " " [ how; at; name ]
    | _ -> line
  in
  List.map without_place (String.split_on_char '\n' text)

let failing_handler with_listener () =
  let open Http_service in
  let socket, port = listener ~backlog:5 in
  let drain = Concord.Promise.create () and log = ref [] in
  let both = Concord.Barrier.create 2 in
  let ask () =
    let send path =
      let client = Raw.connect port in
      Raw.send client (get path ^ get path);
      client
    and receive client =
      let first = Raw.receive client in
      let second = Raw.receive client in
      Raw.close client;
      [ first.status; second.status ]
    in
    List.concat_map receive (List.map send [ "/left"; "/right" ])
  in
  let statuses = Concord.Promise.create () in
  let client () =
    (match ask () with
    | given -> Concord.Promise.fill statuses given
    | exception e -> Concord.Promise.fail statuses e);
    Concord.Promise.fill drain ()
  in
  let thread = Thread.create client () in
  Printexc.record_backtrace false;
  with_listener socket (fun host ->
      Server.run
        {
          idle_timeout = 10.;
          transfer_timeout = 10.;
          drain;
          log = (fun text -> log := text :: !log);
        }
        ~max_connections:10 ~grace:10. host
        (fail (fun () -> Concord.Barrier.await both)));
  Thread.join thread;
  Alcotest.(check (list int))
    "statuses" [ 500; 500; 500; 500 ]
    (Concord.Promise.await statuses);
  let expected side =
    [
      Printf.sprintf "GET \"/%s\": Http_cases.In_process.Oh_no" side;
      "Raised at Http_cases__In_process.fail_" ^ side;
      "Called from Http_cases__In_process.fail";
      "Called from Http_service__Connection.handle_safely";
    ]
  in
  let left = expected "left" and right = expected "right" in
  Alcotest.(check (list (list string)))
    "log"
    [ left; left; right; right ]
    (List.sort compare (List.map functions !log))

(* --- Many clients wait to be accepted --- *)

(* Checks that the other tasks ran only a few times meanwhile. Otherwise, the last client would
   wait for as many rounds of all connections as there are clients before it. *)
let accepted_at_once with_listener ~yield () =
  let open Http_service in
  let clients = 100 in
  let socket, port = listener ~backlog:clients in
  let connections = List.init clients (fun _ -> Raw.connect port) in
  let drain = Concord.Promise.create () in
  let accepted = ref 0 and turns = ref 0 in
  let rec count_turns () =
    if !accepted < clients then begin
      if !accepted > 0 then incr turns;
      yield ();
      count_turns ()
    end
    else Concord.Promise.fill drain ()
  in
  with_listener socket (fun (host : Host.t) ->
      let accept ~unless =
        let connection = host.accept ~unless in
        if Option.is_some connection then incr accepted;
        connection
      in
      host.fork count_turns;
      Server.run
        { idle_timeout = 10.; transfer_timeout = 10.; drain; log = ignore }
        ~max_connections:clients ~grace:10. { host with accept } (fun _ _ ->
          Message.answer `OK "pong"));
  List.iter Raw.close connections;
  Alcotest.(check bool) "few turns" true (!turns < 10)

(* --- A cancelled accept --- *)

let give_up (host : Http_service.Host.t) =
  let accepted = host.accept ~unless:(Concord.Event.always ()) in
  Alcotest.(check bool) "gave up" true (Option.is_none accepted)

(* Each client comes while an accept waits. If the cancelled accept were still active, it would
   take the client of one of the two that follow. *)
let give_up_then_accept port (host : Http_service.Host.t) =
  give_up host;
  for i = 1 to 2 do
    let client = ref None in
    let too_late =
      Concord.Event.guard @@ fun () ->
      client := Some (Raw.connect port);
      Concord.Event.timeout 10.
    in
    (match host.accept ~unless:too_late with
    | Some connection -> connection.close ()
    | None -> Alcotest.failf "client %d was taken by another accept" i);
    Option.iter Raw.close !client
  done;
  host.close ()

(* Repeats this often, because it may depend on the order of two threads. *)
let given_up with_listener () =
  for _ = 1 to 50 do
    let socket, port = listener ~backlog:5 in
    with_listener socket (give_up_then_accept port)
  done
