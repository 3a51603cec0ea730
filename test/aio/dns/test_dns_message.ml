(* Messages, their meaning, the cache of answers, and the system's files. *)

open Concord_test_support
open Check
open Dns_server
module Message = Concord_dns__Message
module Answer = Concord_dns__Answer
module Cache = Concord_dns__Cache
module Resolv_conf = Concord_dns__Resolv_conf
module Hosts = Concord_dns__Hosts

let random_state = Random.State.make_self_init ()

let holds ?(count = 2000) gen print property () =
  QCheck2.Test.check_exn ~rand:random_state
    (QCheck2.Test.make ~count ~print gen property)

(* --- Any message ------------------------------------------------------------ *)

module Generate = struct
  open QCheck2.Gen

  let label letters =
    let letter = oneof_list letters in
    let* n = oneof_weighted [ (9, int_range 1 3); (1, return 63) ] in
    string_size ~gen:letter (return n)

  let name letters =
    map (String.concat ".") (list_size (int_range 1 3) (label letters))

  (* A message may have any name, but only some are asked for. *)
  let host = name [ 'a'; 'b'; '-'; '0'; ' '; '\200' ]

  let asked_host =
    map (fun name -> name ^ ".test") (name [ 'a'; 'b'; '-'; '_'; '0' ])

  let address =
    let byte = int_bound 255 and group = int_bound 0xffff in
    oneof
      [
        map
          (fun l ->
            Message.Address
              ( A,
                Unix.inet_addr_of_string
                  (String.concat "." (List.map string_of_int l)) ))
          (list_size (return 4) byte);
        map
          (fun l ->
            Message.Address
              ( Aaaa,
                Unix.inet_addr_of_string
                  (String.concat ":" (List.map (Printf.sprintf "%x") l)) ))
          (list_size (return 8) group);
      ]

  let record =
    let seconds = int_bound 0x7fff_ffff in
    let* name = host and* ttl = seconds in
    let* data =
      oneof
        [
          address;
          map (fun n -> Message.Alias n) host;
          map (fun n -> Message.Authority n) seconds;
          oneof_list [ Message.Name_server; Other ];
        ]
    in
    return { Message.name; ttl; data }

  let message =
    let* id = int_bound 0xffff
    and* code = int_bound 15
    and* is_response = bool
    and* is_authoritative = bool
    and* is_recursive = bool in
    let* kind = oneof_list [ Some Message.A; Some Aaaa; None ] in
    let* name = host
    and* answers = list_size (int_range 0 5) record
    and* authority = list_size (int_range 0 2) record in
    return
      {
        Message.id;
        code;
        is_response;
        is_authoritative;
        is_truncated = false;
        is_recursive;
        questions = [ (name, kind) ];
        answers;
        authority;
      }

  (* Messages with some bytes changed and the end cut off. *)
  let damaged =
    let* s = map Wire.encode message in
    let* changes =
      list_size (int_range 1 5)
        (pair (int_bound (String.length s - 1)) (map Char.chr (int_bound 255)))
    and* length =
      oneof [ return (String.length s); int_bound (String.length s) ]
    in
    let b = Bytes.of_string s in
    List.iter (fun (i, c) -> Bytes.set b i c) changes;
    return (Bytes.sub_string b 0 length)

  let asked = pair asked_host (oneof_list [ Message.A; Aaaa ])
  let bytes = string_size (int_bound 100)
end

let print_message m = String.escaped (Wire.encode m)
let round_trip m = Message.decode (Wire.encode m) = m

let harmless s =
  match Message.decode s with
  | (_ : Message.t) -> true
  | exception Message.Malformed _ -> true

let query (name, kind) =
  let m = Message.decode (Message.query ~id:513 name kind) in
  m.id = 513 && (not m.is_response) && m.questions = [ (name, Some kind) ]

(* --- Bad names -------------------------------------------------------------- *)

let header = "\000\001\x81\x80\000\001\000\000\000\000\000\000"

let malformed what s =
  raises what (Message.Malformed what) (fun () -> Message.decode s)

let pointers () =
  malformed "a pointer does not lead back" (header ^ "\xc0\x0c\000\001\000\001");
  malformed "a pointer does not lead back" (header ^ "\xc0\x20\000\001\000\001");
  (* The second pointer leads to the first label again. *)
  malformed "a pointer does not lead back" (header ^ "\001a\xc0\x0c\000\001");
  malformed "a label of an unknown type" (header ^ "\x80a");
  malformed "it ends too early" (header ^ "\063abc");
  malformed "it ends too early" ""

let long_name () =
  let labels =
    String.concat "" (List.init 4 (fun _ -> "\063" ^ String.make 63 'a'))
  in
  malformed "a name is too long" (header ^ labels ^ "\000\000\001\000\001")

(* Each pointer leads to the one before it. *)
let many_pointers () =
  let b = Buffer.create 1000 in
  Buffer.add_string b "\000\001\x81\x80\000\001\000\001\000\000\000\000";
  (* a question for the root, and a record whose data contains the pointers *)
  Buffer.add_string b "\000\000\001\000\001";
  Buffer.add_string b "\000\000\016\000\001\000\000\000\000";
  let most = 200 in
  Buffer.add_uint16_be b (2 * most);
  for i = 0 to most - 1 do
    Buffer.add_uint16_be b (0xc000 lor if i = 0 then 12 else Buffer.length b - 2)
  done;
  let whole = Buffer.to_bytes b in
  Bytes.set_uint16_be whole 6 2;
  let last = Bytes.length whole - 2 in
  let s =
    Bytes.to_string whole
    ^ Printf.sprintf "%c%c"
        (Char.chr (0xc0 lor (last lsr 8)))
        (Char.chr (last land 255))
    ^ "\000\016\000\001\000\000\000\000\000\000"
  in
  malformed "a name has too many pointers" s

(* The label "a.b" isn't the labels "a" and "b", nor is "a\\" and "b" the label "a.b". *)
let dots () =
  let question labels =
    let m = Message.head (header ^ labels ^ "\000\000\001\000\001") in
    fst (List.hd m.questions)
  in
  strings "names"
    [ "a\\.b"; "a.b"; "a\\\\.b" ]
    [ question "\003a.b"; question "\001a\001b"; question "\002a\\\001b" ]

(* A server returns only the header of a query that it can't read, with the counts of the query. *)
let header_alone () =
  let m = Message.decode "\002\001\x81\x81\000\001\000\002\000\003\000\004" in
  int "id" 513 m.id;
  int "code" 1 m.code;
  yes "nothing else"
    (m.is_response && m.questions = [] && m.answers = [] && m.authority = [])

(* A notification (RFC 1996) with the bit of a response. *)
let another_operation () =
  let m = Message.head "\000\001\xa0\000\000\000\000\000\000\000\000\000" in
  no "a response" m.is_response

let names () =
  yes "a name" (Message.is_name "a.example");
  yes "63" (Message.is_name (String.make 63 'a'));
  no "64" (Message.is_name (String.make 64 'a'));
  no "none" (Message.is_name "");
  no "an empty label" (Message.is_name "a..b");
  List.iter
    (fun name -> yes name (Message.is_name name))
    [ "-a.b-"; "_x.a_b"; "A"; "1.a"; "1.2.3.4a"; "xn--bcher-kva.test" ];
  List.iter
    (fun name -> no name (Message.is_name name))
    [
      "a\000.test";
      "a b.test";
      " a";
      "a\n";
      "a\\.b";
      "[::1]";
      "fe80::1%lo";
      "a/b";
      "b\195\188cher.test";
      "*.test";
      "1";
      "127.1";
      "256.1.1.1";
      "a.1";
    ];
  let long n = String.concat "." (List.init n (fun _ -> "a")) in
  yes "253" (Message.is_name (long 127));
  no "255" (Message.is_name (long 128))

(* --- What a message says ---------------------------------------------------- *)

let said = function
  | Ok (Answer.Addresses l, ttl) ->
      Printf.sprintf "%s for %d s"
        (String.concat " " (List.map Unix.string_of_inet_addr l))
        ttl
  | Ok (Answer.Alias name, ttl) -> Printf.sprintf "%s for %d s" name ttl
  | Ok (No_address, ttl) -> Printf.sprintf "no address for %d s" ttl
  | Ok (No_such_name, ttl) -> Printf.sprintf "no name for %d s" ttl
  | Error what -> what

let says expected ?(code = 0) ?(authoritative = false) ?(recursive = true)
    ?(authority = []) answers =
  let m =
    {
      (Server.reply ~code ~authority answers
         (Message.decode (Message.query ~id:1 "a.test" A)))
      with
      is_authoritative = authoritative;
      is_recursive = recursive;
    }
  in
  Alcotest.(check string)
    expected expected
    (said (Answer.of_message ~name:"a.test" A m))

let answers () =
  let open Server in
  let a = address_of "a.test" "192.0.2.1" in
  says "192.0.2.1 192.0.2.2 for 7 s"
    [ a; address_of ~ttl:7 "a.test" "192.0.2.2" ];
  says "no address for 0 s"
    [ address_of "a.test" "2001:db8::1"; address_of "b.test" "192.0.2.1" ];
  says "192.0.2.9 for 5 s"
    [
      alias ~ttl:5 "a.test" "b.test";
      alias "b.test" "c.test";
      address_of "c.test" "192.0.2.9";
    ];
  says "c.test for 5 s"
    [ alias "b.test" "c.test"; alias ~ttl:5 "a.test" "b.test" ];
  says "gave aliases that form a cycle"
    [ alias "a.test" "b.test"; alias "b.test" "a.test" ];
  says "no address for 9 s" ~authority:[ soa 9 ] [];
  says "no address for 3 s"
    ~authority:[ soa 9 ]
    [ alias ~ttl:3 "a.test" "b.test" ];
  says "no name for 8 s" ~code:3 ~authority:[ soa ~ttl:8 9 ] [];
  says "no name for 0 s" ~code:3 [];
  says "no name for 4 s" ~code:3
    ~authority:[ soa 9 ]
    [ alias ~ttl:4 "a.test" "b.test" ];
  says "no name for 9 s" ~code:3 ~authority:[ soa 9 ] [ a ];
  says "no address for 10800 s" ~authority:[ soa ~ttl:1_000_000 1_000_000 ] [];
  says "failed" ~code:2 [];
  says "refused" ~code:5 [];
  says "192.0.2.1 for 86400 s"
    [ address_of ~ttl:1_000_000 "a.test" "192.0.2.1" ]

(* RFC 2308, 2.2: a referral has NS records, but no SOA record. *)
let referrals () =
  let open Server in
  let ns = name_server "test" and lame = "refers to other servers" in
  says lame ~authority:[ ns ] [];
  says lame ~authority:[ ns ] ~recursive:false [];
  says lame ~recursive:false [];
  says "no address for 0 s" [];
  says "no address for 0 s" ~recursive:false ~authoritative:true [];
  says "no address for 0 s" ~authoritative:true ~authority:[ ns ] [];
  says "no address for 9 s" ~recursive:false ~authority:[ ns; soa 9 ] [];
  says "192.0.2.1 for 60 s" ~recursive:false ~authority:[ ns ]
    [ address_of "a.test" "192.0.2.1" ];
  says "b.test for 60 s" ~recursive:false ~authority:[ ns ]
    [ alias "a.test" "b.test" ];
  says "no name for 0 s" ~code:3 ~recursive:false ~authority:[ ns ] []

let expiry () =
  let key n = (string_of_int n, Message.A) in
  let add n ~expires c = Cache.add c ~expires (key n) n in
  let has c ~now n = Cache.find c ~now (key n) = Some n in
  let c = Cache.empty ~size:2 |> add 1 ~expires:10. |> add 2 ~expires:5. in
  yes "both" (has c ~now:4.9 1 && has c ~now:4.9 2);
  no "expired" (has c ~now:5. 2);
  let c = add 3 ~expires:7. c in
  int "two" 2 (Cache.length c);
  yes "the later ones" (has c ~now:0. 1 && has c ~now:0. 3);
  let c = add 1 ~expires:20. c |> add 1 ~expires:1. in
  int "the same key" 2 (Cache.length c);
  no "the last time counts" (has c ~now:2. 1);
  let c = add 4 ~expires:9. c in
  yes "the first to expire went" (has c ~now:0. 3 && has c ~now:0. 4)

(* --- Files ------------------------------------------------------------------ *)

let configuration () =
  let conf = Resolv_conf.of_lines in
  let servers c = List.map Unix.string_of_inet_addr c.Resolv_conf.servers in
  let c =
    conf
      [
        "# a comment";
        "; nameserver 192.0.2.9";
        "nameserver 192.0.2.1 # the first";
        "nameserver\t2001:db8::1";
        "nameserver fe80::1%eth0";
        "domain old.test";
        "search One.test two.test. .";
        "options ndots:2 rotate timeout:99 attempts:0 ndots:x ndots:1_0";
        "options ndots:0x3 ndots:-1 ndots:+5 ndots: ndots:99999999999999999999";
        "sortlist 192.0.2.0";
      ]
  in
  strings "servers" [ "192.0.2.1"; "2001:db8::1" ] (servers c);
  strings "search" [ "one.test"; "two.test" ] c.search;
  int "ndots" 2 c.ndots;
  int "timeout" 30 c.timeout;
  int "attempts" 1 c.attempts;
  let c = conf [] in
  strings "this machine" [ "127.0.0.1" ] (servers c);
  int "ndots" 1 c.ndots;
  int "timeout" 5 c.timeout;
  int "attempts" 2 c.attempts;
  let c = conf (List.init 5 (Printf.sprintf "nameserver 192.0.2.%d")) in
  strings "three" [ "192.0.2.0"; "192.0.2.1"; "192.0.2.2" ] (servers c);
  strings "domain" [ "x.test" ] (conf [ "search a b"; "domain x.test" ]).search

let hosts () =
  let h =
    Hosts.of_lines
      [
        "127.0.0.1\tlocalhost Box # not this";
        "";
        "what is this";
        "::1 localhost";
        "192.0.2.3 Alias.HOST.";
      ]
  in
  let find name = List.map Unix.string_of_inet_addr (Hosts.find h name) in
  strings "both" [ "127.0.0.1"; "::1" ] (find "localhost");
  strings "lower case" [ "127.0.0.1" ] (find "box");
  strings "a final dot" [ "192.0.2.3" ] (find "alias.host");
  strings "a comment" [] (find "this");
  strings "no address" [] (find "is")

let () =
  run "dns message"
    [
      ( "message",
        [
          test "round trip" (holds Generate.message print_message round_trip);
          test "random bytes" (holds Generate.bytes String.escaped harmless);
          test "damaged"
            (holds ~count:10_000 Generate.damaged String.escaped harmless);
          test "query" (holds Generate.asked fst query);
          test "pointers" pointers;
          test "a long name" long_name;
          test "many pointers" many_pointers;
          test "dots in labels" dots;
          test "a header alone" header_alone;
          test "another operation" another_operation;
          test "names" names;
        ] );
      ("answer", [ test "answers" answers; test "referrals" referrals ]);
      ("cache", [ test "expiry and size" expiry ]);
      ("files", [ test "resolv.conf" configuration; test "hosts" hosts ]);
    ]
