open Http_message

let within clock seconds f = Eio.Time.with_timeout_exn clock seconds f

(* --- One connection ---------------------------------------------------------- *)

type t = {
  clock : float Eio.Time.clock_ty Eio.Resource.t;
  limits : Http_limits.t;
  log : string -> unit;
  stop : unit Eio.Promise.t;
}

let input_of socket =
  let buffer = Cstruct.create 4096 in
  Input.create (fun () ->
      match Eio.Flow.single_read socket buffer with
      | length -> Cstruct.to_string buffer ~len:length
      | exception End_of_file -> "")

(* Waits for the first byte of a request. Returns [false] if the client is silent for too long,
   or if the service stops. *)
let await_request t input =
  Input.length input > 0
  || Eio.Fiber.any
       [
         (fun () ->
           Input.more input;
           true);
         (fun () ->
           Eio.Promise.await t.stop;
           false);
         (fun () ->
           Eio.Time.sleep t.clock t.limits.idle_timeout;
           false);
       ]

let write t socket text =
  within t.clock t.limits.transfer_timeout (fun () ->
      Eio.Flow.copy_string text socket)

let receive t socket input =
  let go_on text = Eio.Flow.copy_string text socket in
  try
    within t.clock t.limits.transfer_timeout (fun () ->
        Message.receive input ~go_on)
  with Eio.Time.Timeout ->
    Refused (`Request_timeout, "the request took too long to arrive")

let handle_safely t handle request body =
  try handle request body with
  | Eio.Cancel.Cancelled _ as e -> raise e
  | e ->
      t.log ("a request failed: " ^ Printexc.to_string e);
      Message.answer `Internal_server_error "internal error"

(* If a closed socket still has unread input, the system resets the connection, and the client
   may lose the last answer. *)
let linger t socket input =
  Eio.Flow.shutdown socket `Send;
  let drop () =
    for _ = 1 to 64 do
      Input.skip input (Input.length input);
      Input.more input
    done
  in
  Eio.Fiber.any
    [
      drop;
      (fun () -> Eio.Promise.await t.stop);
      (fun () -> Eio.Time.sleep t.clock 1.);
    ]

let converse t handle socket =
  let input = input_of socket in
  let rec next () =
    if await_request t input then
      match receive t socket input with
      | Refused (status, text) ->
          write t socket
            (Message.to_string ~keep_alive:false (Message.answer status text));
          linger t socket input
      | Request (request, body) ->
          let answer = handle_safely t handle request body in
          let keep_alive =
            Message.keeps_alive request && not (Eio.Promise.is_resolved t.stop)
          and head_only = request.meth = `HEAD in
          write t socket (Message.to_string ~head_only ~keep_alive answer);
          if keep_alive then next () else linger t socket input
  in
  next ()

(* --- The server -------------------------------------------------------------- *)

let listen ~port =
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.setsockopt socket SO_REUSEADDR true;
  Unix.setsockopt_int socket SO_SNDBUF 16_384;
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, port));
  Unix.listen socket 128;
  socket

let port socket =
  match Unix.getsockname socket with
  | ADDR_INET (_, port) -> port
  | ADDR_UNIX _ -> assert false (* [listen] binds to an internet address *)

let spare = 32

let affordable (limits : Http_limits.t) socket =
  let max_connections =
    Descriptors.at_most limits.max_connections ~spare socket
  in
  { limits with max_connections }

let is_client's_fault = function
  | End_of_file | Eio.Io _ | Eio.Time.Timeout -> true
  | _ -> false

(* Accepting fails again immediately while the cause lasts, so this waits in between. Only the
   first failure is logged. *)
let rec accept ?(complain = true) t ~sw socket =
  match Eio.Net.accept ~sw socket with
  | client, _ -> client
  | exception ((Eio.Io _ | Unix.Unix_error _) as e) ->
      if complain then t.log ("cannot accept: " ^ Printexc.to_string e);
      Eio.Time.sleep t.clock 0.1;
      accept ~complain:false t ~sw socket

let serve ~clock ~(limits : Http_limits.t) ~log ~stop socket handle =
  let t = { clock; limits; log; stop } in
  let slots = Eio.Semaphore.make limits.max_connections in
  Eio.Switch.run @@ fun sw ->
  let socket =
    Eio_unix.Net.import_socket_listening ~sw ~close_unix:true socket
  in
  let next () =
    Eio.Fiber.first
      (fun () ->
        Eio.Semaphore.acquire slots;
        Some (accept t ~sw socket))
      (fun () ->
        Eio.Promise.await stop;
        None)
  in
  let serve client =
    Fun.protect ~finally:(fun () ->
        Eio.Net.close client;
        Eio.Semaphore.release slots)
    @@ fun () ->
    try
      Eio.Net.(setsockopt client Sockopt.TCP_NODELAY true);
      converse t handle client
    with
    | Eio.Cancel.Cancelled _ as e -> raise e
    | e when is_client's_fault e -> ()
    | e -> t.log (Printexc.to_string e)
  in
  let rec loop () =
    match next () with
    | None -> Eio.Net.close socket
    | Some client ->
        Eio.Fiber.fork ~sw (fun () -> serve client);
        loop ()
  in
  loop ()
