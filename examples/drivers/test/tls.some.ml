open Concord
open Concord_buffered
open Concord_test_support
open Check
module Tls = Concord_ssl

(* --- Certificates ---------------------------------------------------------------- *)

let openssl () =
  if not (Service.is_installed "openssl") then begin
    print_endline "openssl is not installed: not tested with TLS";
    Alcotest.skip ()
  end

type identity = { certificate : string; key : string }

(* A certificate that signs itself, for this host. *)
let identity host =
  Lazy.from_fun (fun () ->
      openssl ();
      let certificate = Service.file (host ^ ".crt")
      and key = Service.file (host ^ ".key") in
      let command =
        Filename.quote_command "openssl" ~stderr:(Service.file "openssl.err")
          [
            "req"; "-x509"; "-newkey"; "ec"; "-pkeyopt";
            "ec_paramgen_curve:P-256"; "-nodes"; "-days"; "2"; "-subj";
            "/CN=" ^ host; "-addext"; "subjectAltName=DNS:" ^ host; "-keyout";
            key; "-out"; certificate;
          ]
        [@@ocamlformat "disable"]
      in
      int "openssl req" 0 (Sys.command command);
      { certificate; key })

let ours = identity "localhost"
let stranger = identity "example.org"

let server_context =
  Lazy.from_fun (fun () ->
      let { certificate; key } = Lazy.force ours in
      Tls.server_context ~certificate ~key)

let trusting identity =
  Tls.client_context ~authorities:(Lazy.force identity).certificate ()

let client_context = Lazy.from_fun (fun () -> trusting ours)
let as_server fd = Tls.server (Lazy.force server_context) fd
let as_client fd = Tls.client (Lazy.force client_context) ~host:"localhost" fd

(* --- HTTPS ----------------------------------------------------------------------- *)

(* A client that was cancelled breaks its connection off. *)
let quietly _ = function Tls.Failed _ | Unix.Unix_error _ -> () | e -> raise e

let https_server =
  Lazy.from_fun (fun () ->
      ignore (Lazy.force server_context : Ssl.context);
      let over fd = Tls.to_socket (as_server fd) in
      Http_service.start ~over ~on_error:quietly "https")

let https () =
  ignore (Lazy.force client_context : Ssl.context);
  let over fd = Tls.to_socket (as_client fd) in
  Http_service.create ~over ~name:"HTTPS" (Lazy.force https_server)

let services = [ ("HTTPS", https) ]

let curl () =
  let server = Lazy.force https_server in
  let options = [ "--cacert"; (Lazy.force ours).certificate ] in
  Http_service.curl ~options (fun path -> "https://localhost" ^ path) server

(* --- Pairs ----------------------------------------------------------------------- *)

(* Two functions, each with an end of a connection, in two tasks. *)
let at_both_ends f g () =
  openssl ();
  Concord_aio.run @@ fun () ->
  let a, b = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  ignore (Tasks.both (fun () -> f a) (fun () -> g b) : unit * unit);
  List.iter
    (fun fd ->
      match Unix.close fd with
      | () -> Alcotest.fail "a descriptor stays open"
      | exception Unix.Unix_error (EBADF, _, _) -> ())
    [ a; b ]

let fails name reason f =
  match f () with
  | _ -> Alcotest.failf "%s doesn't fail" name
  | exception Tls.Failed text ->
      if not (contains text reason) then
        Alcotest.failf "%s: %S is another reason" name text

let refused name reason context host =
  let client fd =
    fails name reason (fun () -> Tls.client context ~host fd);
    Concord_aio.close fd
  and server fd =
    (match as_server fd with
    | t -> fails "read" "" (fun () -> Tls.read t (Bytes.create 1) 0 1)
    | exception Tls.Failed _ -> ());
    Concord_aio.close fd
  in
  at_both_ends client server ()

let verified () =
  let reason = "certificate verify failed" in
  refused "a stranger's certificate" reason (trusting stranger) "localhost";
  let trusted = Lazy.force client_context in
  refused "another name" reason trusted "example.org";
  refused "an address" reason trusted "127.0.0.1"

let get t n =
  let reader = Reader.create (Tls.read t) in
  Reader.take reader n

let put t text =
  let writer = Writer.create (Tls.single_write t) in
  Writer.string writer text;
  Writer.flush writer

(* More bytes in both directions at once than the system keeps. *)
let both_directions =
  let text = String.init 1_000_000 (fun i -> Char.chr (i * 7 land 255)) in
  let use make fd =
    let t = make fd in
    let received, () =
      Tasks.both (fun () -> get t (String.length text)) (fun () -> put t text)
    in
    yes "the bytes" (received = text);
    int "the end" 0
      (Tls.close t;
       0)
  in
  at_both_ends (use as_client) (use as_server)

let ends =
  at_both_ends
    (fun fd ->
      let t = as_client fd in
      put t "all";
      Tls.close t;
      Tls.close t;
      match Tls.read t (Bytes.create 1) 0 1 with
      | _ -> Alcotest.fail "it reads a closed connection"
      | exception Unix.Unix_error (EBADF, _, _) -> ())
    (fun fd ->
      let t = as_server fd in
      Alcotest.(check string) "the bytes" "all" (get t 3);
      int "the end" 0 (Tls.read t (Bytes.create 1) 0 1);
      Tls.close t)

let cut_off =
  at_both_ends
    (fun fd ->
      put (as_client fd) "part";
      Concord_aio.close fd)
    (fun fd ->
      let t = as_server fd in
      Alcotest.(check string) "the bytes" "part" (get t 4);
      fails "the end" "unexpected eof" (fun () ->
          Tls.read t (Bytes.create 1) 0 1);
      Tls.close t)

(* A cancelled read has taken nothing. A write has, and ends the connection. *)
let cancelled =
  let full = Promise.create () in
  at_both_ends
    (fun fd ->
      let t = as_client fd in
      let read () = get t 5 in
      yes "it waits" (Tasks.with_timeout 0.001 read = None);
      put t "go";
      Alcotest.(check string) "the bytes" "hello" (read ());
      let rec fill () =
        put t (String.make 100_000 'x');
        fill ()
      in
      yes "it waits" (Tasks.with_timeout 0.01 fill = None);
      fails "a later write" "an earlier operation" (fun () -> put t "x");
      Promise.fill full ();
      Tls.close t)
    (fun fd ->
      let t = as_server fd in
      Alcotest.(check string) "the bytes" "go" (get t 2);
      put t "hello";
      Promise.await full;
      Tls.close t)

(* --- STARTTLS -------------------------------------------------------------------- *)

(* The client doesn't wait for an answer, so its first bytes of TLS come together with the line,
   and are in the server's buffer. *)
let starttls =
  let buffers fd =
    ( Reader.create (Concord_aio.read fd),
      Writer.create (Concord_aio.single_write fd) )
  in
  let text = String.make 100_000 'y' in
  at_both_ends
    (fun fd ->
      let reader, writer = buffers fd in
      Writer.string writer "STARTTLS\r\n";
      Tls.over as_client reader writer (fun t ->
          put t text;
          Alcotest.(check string) "the answer" "done" (get t 4));
      Concord_aio.close fd)
    (fun fd ->
      let reader, writer = buffers fd in
      Alcotest.(check string)
        "the line" "STARTTLS"
        (Reader.line ~max:100 reader);
      yes "bytes of TLS are in the buffer" (Reader.length reader > 0);
      Tls.over as_server reader writer (fun t ->
          yes "the bytes" (get t (String.length text) = text);
          put t "done");
      Concord_aio.close fd)

(* --- OpenSSL's own programs -------------------------------------------------------- *)

(* Runs openssl in the folder of [path], with the name of that file as its socket. It refuses a
   socket whose path has 32 characters or more. *)
let with_openssl command ~path words f =
  openssl ();
  let socket = [ command; "-unix"; Filename.basename path ] in
  let in_folder = [ "sh"; "-c"; "cd \"$0\" && exec openssl \"$@\"" ] in
  let words = in_folder @ (Filename.dirname path :: socket) @ words in
  let its_input, to_it = Unix.pipe ~cloexec:true ()
  and from_it, its_output = Unix.pipe ~cloexec:true () in
  let pid =
    Unix.create_process "sh" (Array.of_list words) its_input its_output
      Unix.stderr
  in
  List.iter Unix.close [ its_input; its_output ];
  let finally () =
    Unix.kill pid Sys.sigkill;
    ignore (Unix.waitpid [] pid : int * Unix.process_status);
    List.iter Unix.close [ to_it; from_it ]
  in
  Fun.protect ~finally (fun () -> f from_it to_it)

(* It sends each line back in reverse. *)
let their_server () =
  let { certificate; key } = Lazy.force ours in
  let path = Service.file "s_server" in
  let words =
    [ "-cert"; certificate; "-key"; key; "-rev"; "-naccept"; "1"; "-quiet" ]
  in
  with_openssl "s_server" ~path words @@ fun _ _ ->
  let connected = ref None in
  eventually "it listens" (fun () ->
      match
        Socket.connect
          ~over:(fun fd -> Tls.to_socket (as_client fd))
          (ADDR_UNIX path)
      with
      | socket ->
          connected := Some socket;
          true
      | exception Unix.Unix_error ((ENOENT | ECONNREFUSED), _, _) -> false);
  let socket = Option.get !connected in
  Writer.string socket.writer "level\nstressed\n";
  Writer.flush socket.writer;
  let line () = Reader.line ~max:100 socket.reader in
  let first = line () in
  strings "the lines" [ "level"; "desserts" ] [ first; line () ];
  Socket.close socket

let their_client () =
  let { certificate; _ } = Lazy.force ours in
  let path = Service.file "smtp" in
  let listener = Unix.socket ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  Unix.bind listener (ADDR_UNIX path);
  Unix.listen listener 1;
  let words =
    [ "-starttls"; "smtp"; "-CAfile"; certificate; "-verify_return_error" ]
    @ [ "-verify_hostname"; "localhost"; "-quiet" ]
  in
  with_openssl "s_client" ~path words @@ fun from_it to_it ->
  let fd, _ = Concord_aio.accept ~cloexec:true listener in
  let { Socket.reader; writer; _ } = Socket.of_descr fd in
  let say text =
    Writer.string writer (text ^ "\r\n");
    Writer.flush writer
  and line () = Reader.line ~max:100 reader in
  say "220 ready";
  yes "EHLO" (String.starts_with ~prefix:"EHLO" (line ()));
  say "250-here\r\n250 STARTTLS";
  Alcotest.(check string) "the command" "STARTTLS" (line ());
  int "bytes in the buffer" 0 (Reader.length reader);
  say "220 go";
  let t = as_server fd in
  ignore (Unix.write_substring to_it "NOOP\n" 0 5 : int);
  Alcotest.(check string) "a command" "NOOP" (get t 4);
  put t "250 done\r\n";
  Tls.close t;
  let answer = Reader.line ~max:100 (Reader.create (Unix.read from_it)) in
  yes ("the answer is in " ^ answer) (contains answer "250 done");
  Unix.close listener

let tests =
  [
    test "curl" curl;
    test "a certificate is verified" verified;
    test "both directions at once" both_directions;
    test "the end" ends;
    test "cut off" cut_off;
    test "cancelled" cancelled;
    test "STARTTLS with bytes in the buffer" starttls;
    test "openssl s_server" their_server;
    test "openssl s_client" their_client;
  ]
