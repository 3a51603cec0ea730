module Message = Concord_dns__Message

type t = {
  address : Unix.sockaddr;
  asked : int Atomic.t;
  answered : int Atomic.t;
}

let address t = t.address
let asked t = Atomic.get t.asked
let answered t = Atomic.get t.answered

let reply ?(code = 0) ?(authority = []) answers (query : Message.t) =
  {
    query with
    is_response = true;
    is_recursive = true;
    code;
    answers;
    authority;
  }

let address_of ?(ttl = 60) name s =
  let a = Unix.inet_addr_of_string s in
  let kind = if Unix.is_inet6_addr a then Message.Aaaa else A in
  { Message.name; ttl; data = Address (kind, a) }

let alias ?(ttl = 60) name target = { Message.name; ttl; data = Alias target }

let soa ?(ttl = 60) minimum =
  { Message.name = "test"; ttl; data = Authority minimum }

let name_server name = { Message.name; ttl = 60; data = Name_server }

(* An empty datagram, or a connection that sends nothing, ends a thread. *)

(* Each query has its own thread, because an answer may wait for another one. *)
let serve_udp t fd udp =
  let b = Bytes.create 512 in
  let answer query from () =
    List.iter
      (fun m ->
        let s = Wire.encode m in
        ignore (Unix.sendto_substring fd s 0 (String.length s) [] from : int))
      (udp (Message.decode query));
    Atomic.incr t.answered
  in
  let rec serve threads =
    match Unix.recvfrom fd b 0 512 [] with
    | 0, _ -> List.iter Thread.join threads
    | n, from ->
        Atomic.incr t.asked;
        let query = Bytes.sub_string b 0 n in
        serve (Thread.create (answer query from) () :: threads)
  in
  serve []

let serve_tcp fd tcp =
  let rec serve () =
    let connection, _ = Unix.accept ~cloexec:true fd in
    let ic = Unix.in_channel_of_descr connection
    and oc = Unix.out_channel_of_descr connection in
    match In_channel.really_input_string ic 2 with
    | None -> Unix.close connection
    | Some length ->
        let n = String.get_uint16_be length 0 in
        Option.iter
          (fun query ->
            List.iter
              (fun m ->
                let s = Wire.encode m in
                output_byte oc (String.length s lsr 8);
                output_byte oc (String.length s);
                output_string oc s)
              (tcp (Message.decode query)))
          (In_channel.really_input_string ic n);
        close_out oc;
        serve ()
  in
  serve ()

(* Both sockets have the same port. *)
let rec sockets () =
  let bound kind port =
    let fd = Unix.socket ~cloexec:true PF_INET kind 0 in
    match Unix.bind fd (ADDR_INET (Unix.inet_addr_loopback, port)) with
    | () -> fd
    | exception e ->
        Unix.close fd;
        raise e
  in
  let udp = bound SOCK_DGRAM 0 in
  let port =
    match Unix.getsockname udp with ADDR_INET (_, port) -> port | _ -> 0
  in
  match bound SOCK_STREAM port with
  | tcp -> (udp, tcp)
  | exception Unix.Unix_error (EADDRINUSE, _, _) ->
      Unix.close udp;
      sockets ()

let with_ ?(tcp = fun _ -> []) udp f =
  let udp_fd, tcp_fd = sockets () in
  Unix.listen tcp_fd 10;
  let t =
    {
      address = Unix.getsockname udp_fd;
      asked = Atomic.make 0;
      answered = Atomic.make 0;
    }
  in
  let threads =
    [
      Thread.create (fun () -> serve_udp t udp_fd udp) ();
      Thread.create (fun () -> serve_tcp tcp_fd tcp) ();
    ]
  in
  let finally () =
    let last = Unix.socket ~cloexec:true PF_INET SOCK_DGRAM 0 in
    ignore (Unix.sendto_substring last "" 0 0 [] t.address : int);
    Unix.close last;
    let last = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
    Unix.connect last t.address;
    Unix.close last;
    List.iter Thread.join threads;
    Unix.close udp_fd;
    Unix.close tcp_fd
  in
  Fun.protect ~finally (fun () -> f t)
