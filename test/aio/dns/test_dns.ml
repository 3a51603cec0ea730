(* The resolver, against servers on the loopback interface. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
open Dns_kit

(* --- What servers answer ---------------------------------------------------- *)

let both_families () =
  Server.with_
    (knows [ aaaa_test; a_test; Server.address_of "b.test" "192.0.2.2" ])
  @@ fun s ->
  let dns = create [ s ] in
  says dns "192.0.2.1" "a.test";
  says dns ~family:`Ipv6 "2001:db8::1" "a.test";
  says dns ~family:`Any "192.0.2.1 2001:db8::1" "A.Test.";
  says dns ~family:`Any "192.0.2.2" "b.test";
  says dns ~family:`Ipv6 "the name has no address of this kind" "b.test";
  says dns ~family:`Any "no such name" "c.test";
  says dns "not a valid host name" "a..test";
  says dns "not a valid host name" "";
  says dns ~family:`Any "192.0.2.7" "192.0.2.7";
  says dns ~family:`Ipv6 "::1" "::1"

(* Two aliases are in one message. The resolver has to ask again for the last one. *)
let aliases () =
  let answer query =
    match name_of query with
    | "a.test" ->
        [
          Server.reply
            Server.[ alias "a.test" "b.test"; alias "b.test" "c.test" ]
            query;
        ]
    | "c.test" ->
        [ Server.reply [ Server.address_of "c.test" "192.0.2.3" ] query ]
    | name -> [ Server.reply [ Server.alias name ("x" ^ name) ] query ]
  in
  Server.with_ answer @@ fun s ->
  let dns = create [ s ] in
  says dns "192.0.2.3" "a.test";
  int "queries" 2 (Server.asked s);
  says dns "too many aliases" "d.test"

let truncated () =
  let many =
    List.init 100 (fun i ->
        Server.address_of "a.test" (Printf.sprintf "192.0.2.%d" i))
  in
  let expected =
    String.concat " " (List.init 100 (Printf.sprintf "192.0.2.%d"))
  in
  Server.with_
    ~tcp:(fun query -> [ Server.reply many query ])
    (fun query -> [ { (Server.reply [] query) with is_truncated = true } ])
  @@ fun s ->
  says (create [ s ]) expected "a.test";
  (* The server closes a connection without an answer. *)
  Server.with_ (fun query ->
      [ { (Server.reply [] query) with is_truncated = true } ])
  @@ fun s ->
  match Concord_dns.resolve ~family:`Ipv4 (create [ s ]) "a.test" with
  | Error (Failed what) -> yes what (contains what "closed the connection")
  | result -> Alcotest.fail (resolved result)

(* Messages that another host could have sent come before the answer. *)
let lies () =
  let lie = [ Server.address_of "a.test" "203.0.113.1" ] in
  let answer query =
    let wrong = Server.reply lie query in
    [
      { wrong with id = wrong.id lxor 1 };
      { wrong with is_response = false };
      { wrong with questions = [ ("b.test", Some Message.A) ] };
      { wrong with questions = [ ("a.test", Some Message.Aaaa) ] };
      { wrong with questions = [] };
      Server.reply [ a_test ] query;
    ]
  in
  Server.with_ answer @@ fun s -> says (create [ s ]) "192.0.2.1" "a.test"

(* A proper answer comes from another port. The server itself answers later. *)
let wrong_source () =
  let other = Unix.socket ~cloexec:true PF_INET SOCK_DGRAM 0 in
  let fd = Unix.socket ~cloexec:true PF_INET SOCK_DGRAM 0 in
  Unix.bind fd (ADDR_INET (Unix.inet_addr_loopback, 0));
  let send fd to_ m =
    let s = Wire.encode m in
    ignore (Unix.sendto_substring fd s 0 (String.length s) [] to_ : int)
  in
  let server =
    Thread.create
      (fun () ->
        let b = Bytes.create 512 in
        let n, from = Unix.recvfrom fd b 0 512 [] in
        let query = Message.decode (Bytes.sub_string b 0 n) in
        send other from
          (Server.reply [ Server.address_of "a.test" "203.0.113.1" ] query);
        send fd from (Server.reply [ a_test ] query))
      ()
  in
  let dns =
    Concord_dns.create ~resolv_conf:nothing ~hosts:nothing ~timeout:20.
      ~servers:[ Unix.getsockname fd ]
      ()
  in
  says dns "192.0.2.1" "a.test";
  Thread.join server;
  Unix.close fd;
  Unix.close other

(* --- Several servers -------------------------------------------------------- *)

let silent_race () =
  Server.with_ silent @@ fun first ->
  Server.with_ refuses @@ fun second ->
  Server.with_ (knows [ a_test ]) @@ fun third ->
  says (create ~race:true [ first; second; third ]) "192.0.2.1" "a.test";
  eventually "all were asked" (fun () ->
      List.for_all (fun s -> Server.asked s = 1) [ first; second; third ])

let all_fail_race () =
  Server.with_ refuses @@ fun first ->
  Server.with_ refuses @@ fun second ->
  match
    Concord_dns.resolve ~family:`Ipv4
      (create ~race:true [ first; second ])
      "a.test"
  with
  | Error (Failed what) -> yes what (contains what "refused")
  | result -> Alcotest.fail (resolved result)

let in_turn () =
  Server.with_ silent @@ fun first ->
  Server.with_ refuses @@ fun second ->
  Server.with_ (knows [ a_test ]) @@ fun third ->
  says (create ~timeout:0.2 [ first; second; third ]) "192.0.2.1" "a.test";
  asked 1 first;
  asked 1 second

let attempts () =
  let count = Atomic.make 0 in
  let third query =
    if Atomic.fetch_and_add count 1 < 2 then refuses query
    else knows [ a_test ] query
  in
  Server.with_ third @@ fun s ->
  says (create ~attempts:3 [ s ]) "192.0.2.1" "a.test";
  int "queries" 3 (Server.asked s)

let timeouts () =
  Server.with_ silent @@ fun s ->
  says
    (create ~timeout:0.02 ~attempts:3 [ s ])
    "no server answered in time" "a.test";
  asked 3 s;
  says (create ~limit:0.05 [ s ]) "no server answered in time" "b.test";
  asked 4 s

(* No server listens there, and the system reports this at once. *)
let no_server () =
  let gone = Server.with_ silent Server.address in
  let dns =
    Concord_dns.create ~resolv_conf:nothing ~hosts:nothing ~timeout:20.
      ~servers:[ gone ] ()
  in
  match Concord_dns.resolve dns "a.test" with
  | Error (Failed what) -> yes what (contains what "refused")
  | result -> Alcotest.fail (resolved result)

let error_without_question code query =
  [ { (Server.reply ~code [] query) with questions = [] } ]

let referral query =
  [
    {
      (Server.reply ~authority:[ Server.name_server "test" ] [] query) with
      is_recursive = false;
    };
  ]

let says_nothing query =
  [ { (Server.reply [] query) with is_recursive = false } ]

(* A label of 64 bytes can't be read. *)
let unreadable query =
  let bad = { a_test with name = String.make 64 'a' ^ ".test" } in
  [ Server.reply [ bad ] query ]

(* The first server answers at once, but says nothing about the name. *)
let unusable () =
  List.iter
    (fun (what, answer) ->
      Server.with_ answer @@ fun first ->
      Server.with_ (knows [ a_test ]) @@ fun second ->
      quick (fun () -> says (create [ first; second ]) "192.0.2.1" "a.test");
      int what 1 (Server.asked first);
      match Concord_dns.resolve ~family:`Ipv4 (create [ first ]) "a.test" with
      | Error (Failed text) -> yes text (contains text what)
      | result -> Alcotest.fail (resolved result))
    [
      ("did not understand", error_without_question 1);
      ("failed", error_without_question 2);
      ("does not support", error_without_question 4);
      ("refused", error_without_question 5);
      ("refers", referral);
      ("refers", says_nothing);
      ("a bad message", unreadable);
    ]

(* --- Names ------------------------------------------------------------------ *)

let files () =
  with_file [ "192.0.2.10 Box"; "2001:db8::10 box" ] @@ fun hosts ->
  with_file [ "search one.test two.test"; "options ndots:2" ]
  @@ fun resolv_conf ->
  Server.with_
    (knows
       Server.
         [
           address_of "x.two.test" "192.0.2.2";
           address_of "x.y.one.test" "192.0.2.3";
           address_of "x.y.z" "192.0.2.4";
           address_of "x.y.z.one.test" "192.0.2.5";
           address_of "x.y" "192.0.2.6";
           address_of "box" "192.0.2.7";
         ])
  @@ fun s ->
  let dns = create ~resolv_conf ~hosts [ s ] in
  says dns ~family:`Any "192.0.2.10 2001:db8::10" "BOX";
  int "no query" 0 (Server.asked s);
  says dns "192.0.2.2" "x";
  says dns "192.0.2.3" "x.y";
  says dns "192.0.2.6" "x.y.";
  says dns "192.0.2.4" "x.y.z";
  says dns "no such name" "q.y.z"

let refused () =
  let refuses what f =
    raises what (Invalid_argument ("Concord_dns.create: " ^ what)) f
  in
  let create = Concord_dns.create ~resolv_conf:nothing ~hosts:nothing in
  refuses "no servers" (fun () -> create ~servers:[] ());
  refuses "timeout must be positive, but is 0" (fun () -> create ~timeout:0. ());
  refuses "limit must be positive, but is nan" (fun () ->
      create ~limit:Float.nan ());
  refuses "resolution_delay must not be negative, but is -1" (fun () ->
      create ~resolution_delay:(-1.) ());
  refuses "resolution_delay must not be negative, but is nan" (fun () ->
      create ~resolution_delay:Float.nan ());
  refuses "attempts must be at least 1, but is 0" (fun () ->
      create ~attempts:0 ());
  refuses "size must be at least 1, but is 0" (fun () -> create ~size:0 ())

(* Names for which servers would be asked in vain, or which they shouldn't see. *)
let no_server_sees () =
  with_file [ "192.0.2.10 Alias.Host box."; "192.0.2.11 db.localhost" ]
  @@ fun hosts ->
  with_file [ "search one.test" ] @@ fun resolv_conf ->
  let away query =
    [ Server.reply [ Server.alias "away.test" "x.localhost" ] query ]
  in
  Server.with_ away @@ fun s ->
  let dns = create ~hosts ~resolv_conf [ s ] in
  List.iter
    (says dns "not a valid host name")
    [
      "a\000.test";
      "a\000";
      "a b";
      "a ";
      "\ta.test";
      "[::1]";
      "fe80::1%lo";
      "fe80::1%1";
      "192.0.2.1\n";
      "a/b.test";
      "b\195\188cher.test";
      "192.0.2.256.";
      "127.1.";
      ".";
      "a..";
    ];
  says dns ~family:`Any "127.0.0.1 ::1" "localhost";
  says dns ~family:`Ipv4 "127.0.0.1" "LocalHost.";
  says dns ~family:`Ipv6 "::1" "x.LOCALHOST";
  says dns ~family:`Any "192.0.2.11" "DB.localhost.";
  says dns ~family:`Any "no such name" "a.invalid";
  says dns ~family:`Any "no such name" "invalid.";
  says dns ~family:`Any "no such name" "a.b.ONION";
  says dns ~family:`Any "192.0.2.10" "ALIAS.host.";
  says dns ~family:`Any "192.0.2.10" "alias.HOST";
  says dns ~family:`Any "192.0.2.10" "Box";
  int "queries" 0 (Server.asked s);
  (* Only the alias is asked for. *)
  says dns ~family:`Any "127.0.0.1 ::1" "away.test";
  int "queries" 2 (Server.asked s)

(* --- Hosts ------------------------------------------------------------------ *)

let on_host run () =
  Server.with_ (knows [ a_test; aaaa_test ]) @@ fun first ->
  Server.with_ silent @@ fun second ->
  run (fun () ->
      let dns = create ~race:true [ second; first ] in
      says dns ~family:`Any "192.0.2.1 2001:db8::1" "a.test";
      says
        (create ~timeout:0.02 [ second ])
        "no server answered in time" "a.test")

let in_thread f =
  let outcome = Promise.create () in
  let run () =
    Promise.resolve outcome
      (match f () with () -> Ok () | exception e -> Error e)
  in
  let (_ : Thread.t) = Thread.create run () in
  Promise.await outcome

(* --- dnsmasq, where it is installed ----------------------------------------- *)

let free_port () =
  match Server.with_ silent Server.address with
  | ADDR_INET (_, port) -> port
  | ADDR_UNIX _ -> assert false (* It is on the loopback interface. *)

let on_path program =
  List.exists
    (fun dir -> Sys.file_exists (Filename.concat dir program))
    (String.split_on_char ':' (Sys.getenv "PATH"))

let dnsmasq () =
  let port = free_port () in
  let many =
    List.init 60 (Printf.sprintf "--host-record=many.test,192.0.2.%d")
  in
  let arguments =
    [
      "dnsmasq";
      "--keep-in-foreground";
      "--no-resolv";
      "--no-hosts";
      "--pid-file=";
      "--user=root";
      "--conf-file=/dev/null";
      "--bind-interfaces";
      "--listen-address=127.0.0.1";
      "--local=/test/";
      "--port=" ^ string_of_int port;
      "--host-record=a.test,192.0.2.1,2001:db8::1";
      "--cname=b.test,a.test";
      "--cname=c.test,b.test";
    ]
    @ many
  in
  let server =
    Unix.create_process "dnsmasq" (Array.of_list arguments) Unix.stdin
      Unix.stdout Unix.stderr
  in
  let finally () =
    Unix.kill server Sys.sigterm;
    ignore (Unix.waitpid [] server : int * Unix.process_status)
  in
  Fun.protect ~finally @@ fun () ->
  let dns =
    Concord_dns.create ~resolv_conf:nothing ~hosts:nothing
      ~servers:[ ADDR_INET (Unix.inet_addr_loopback, port) ]
      ()
  in
  eventually "it answers" (fun () ->
      Result.is_ok (Concord_dns.resolve dns "a.test"));
  says dns ~family:`Any "192.0.2.1 2001:db8::1" "a.test";
  says dns "192.0.2.1" "c.test";
  says dns ~family:`Ipv6 "2001:db8::1" "c.test";
  says dns "no such name" "d.test";
  match Concord_dns.resolve ~family:`Ipv4 dns "many.test" with
  | Ok addresses -> int "by TCP" 60 (List.length addresses)
  | Error e -> Alcotest.fail (Concord_dns.error_message e)

let () =
  run "dns"
    [
      ( "answers",
        [
          ("both families", both_families);
          ("aliases", aliases);
          ("truncated", truncated);
          ("lies", lies);
          ("wrong source", wrong_source);
        ] );
      ( "servers",
        [
          ("a race, one silent", silent_race);
          ("a race, all fail", all_fail_race);
          ("in turn", in_turn);
          ("attempts", attempts);
          ("timeouts", timeouts);
          ("no server", no_server);
          ("unusable", unusable);
        ] );
      ( "names",
        [
          ("files", files);
          ("no server sees", no_server_sees);
          ("refused", refused);
        ] );
      ( "hosts",
        [
          ("fifo", on_host (fun f -> Fifo.run f));
          ("aio", on_host Concord_aio.run);
          ("thread", on_host in_thread);
          ("eio", on_host (fun f -> Eio_main.run (fun _ -> f ())));
        ] );
      ("real", if on_path "dnsmasq" then [ ("dnsmasq", dnsmasq) ] else []);
    ]
