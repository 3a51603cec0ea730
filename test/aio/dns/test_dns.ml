(* The resolver, against servers on the loopback interface. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
open Dns_server
module Message = Concord_dns__Message

let nothing = "/dev/null"

let file lines =
  let name = Filename.temp_file "concord" "dns" in
  Out_channel.with_open_text name (fun oc ->
      List.iter (fun line -> output_string oc (line ^ "\n")) lines);
  name

let with_file lines f =
  let name = file lines in
  Fun.protect ~finally:(fun () -> Sys.remove name) (fun () -> f name)

(* The times are so long that a test that waits for one of them fails ([quick]). *)
let create ?resolv_conf ?hosts ?(timeout = 20.) ?(attempts = 1) ?limit
    ?(resolution_delay = 20.) ?race ?size ?now servers =
  Concord_dns.create
    ~resolv_conf:(Option.value resolv_conf ~default:nothing)
    ~hosts:(Option.value hosts ~default:nothing)
    ~timeout ~attempts ?limit ~resolution_delay ?race ?size ?now
    ~servers:(List.map Server.address servers)
    ()

let resolved = function
  | Ok addresses ->
      String.concat " " (List.map Unix.string_of_inet_addr addresses)
  | Error e -> Concord_dns.error_message e

let says ?(family = `Ipv4) dns expected name =
  Alcotest.(check string)
    (String.escaped name) expected
    (resolved (Concord_dns.resolve ~family dns name))

(* No timeout of {!create} has passed. *)
let quick f =
  let start = Unix.gettimeofday () in
  f ();
  yes "no timeout" (Unix.gettimeofday () -. start < 10.)

let descriptors = Concord_test_proc.descriptors

(* A poller in a thread or in [run] keeps its own descriptors. So both poll before the
   descriptors are counted. *)
let leaves_none f () =
  Server.with_
    (fun _ -> [])
    (fun s ->
      let wait () =
        ignore
          (Concord_dns.resolve ~family:`Ipv4
             (create ~timeout:0.01 [ s ])
             "a.test"
            : _ result)
      in
      wait ();
      Concord_aio.run wait);
  let before = descriptors () in
  f ();
  eventually "no descriptor is left" (fun () -> descriptors () <= before)

let name_of (query : Message.t) = fst (List.hd query.questions)
let kind_of (query : Message.t) = snd (List.hd query.questions)

(* A server that knows these records, and that there are no others. *)
let knows records query =
  let name = name_of query in
  let mine =
    List.filter
      (fun (r : Message.record) ->
        r.name = name
        &&
        match r.data with
        | Address (kind, _) -> Some kind = kind_of query
        | _ -> true)
      records
  in
  if List.exists (fun (r : Message.record) -> r.name = name) records then
    [ Server.reply mine ~authority:[ Server.soa 60 ] query ]
  else [ Server.reply ~code:3 [] ~authority:[ Server.soa 60 ] query ]

let a_test = Server.address_of "a.test" "192.0.2.1"
let aaaa_test = Server.address_of "a.test" "2001:db8::1"
let silent _ = []

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

(* A server may be slower than a timeout. *)
let asked n s =
  eventually (Printf.sprintf "%d queries" n) (fun () -> Server.asked s = n)

(* --- Several servers -------------------------------------------------------- *)

let refuses query = [ Server.reply ~code:5 [] query ]

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

(* --- Families --------------------------------------------------------------- *)

(* Answers a question for this kind with [mine], and other questions with [others]. *)
let for_kind kind mine others query =
  if kind_of query = Some kind then mine query else others query

(* As {!for_kind}, but answers questions for [kind] only when the other query has ended. A query that
   is alone may also be the first to begin: so the other one must have been answered. *)
let last dns kind mine others =
  let is_answered = Atomic.make false in
  let when_alone query =
    eventually "the other query has ended" (fun () ->
        match Atomic.get dns with
        | Some dns -> Atomic.get is_answered && Concord_dns.in_progress dns = 1
        | None -> false);
    mine query
  and first query =
    Atomic.set is_answered true;
    others query
  in
  for_kind kind when_alone first

let both = knows [ a_test; aaaa_test ]
let none query = [ Server.reply [] query ]
let no_name = knows []

let asked_for kind count answer query =
  if kind_of query = Some kind then Atomic.incr count;
  answer query

(* The other family is silent, or fails. With all servers, this took all attempts. *)
let half () =
  let cases =
    [
      (Message.Aaaa, "192.0.2.1", silent, 0.01);
      (Message.A, "2001:db8::1", silent, 0.01);
      (Message.Aaaa, "192.0.2.1", refuses, 20.);
      (Message.A, "2001:db8::1", refuses, 20.);
    ]
  in
  List.iter
    (fun (missing, expected, bad, resolution_delay) ->
      let count = Atomic.make 0 and dns = Atomic.make None in
      let answer = asked_for missing count (last dns missing bad both) in
      Server.with_ answer @@ fun first ->
      Server.with_ answer @@ fun second ->
      let t = create ~attempts:2 ~resolution_delay [ first; second ] in
      Atomic.set dns (Some t);
      Concord_aio.run (fun () ->
          quick (fun () -> says ~family:`Any t expected "a.test"));
      eventually "one try" (fun () -> Atomic.get count = 1);
      int "in progress" 0 (Concord_dns.in_progress t))
    cases

(* Both answers are there when the loop looks. It resumes first the task that has addresses, whose
   descriptor is the lower one and whose answer came first. The other family's task runs next, before
   the caller, and should find already then that no other server has to be asked. *)
let half_at_once () =
  let server = Atomic.make None and blocked = Promise.create () in
  let answered n () =
    match Atomic.get server with
    | Some s -> Server.answered s >= n
    | None -> false
  in
  let address query =
    Promise.await blocked;
    both query
  and failure query =
    eventually "the address is sent" (answered 1);
    refuses query
  in
  Server.with_ (for_kind A address failure) @@ fun first ->
  Atomic.set server (Some first);
  Server.with_ both @@ fun second ->
  let t = create [ first; second ] in
  Concord_aio.run (fun () ->
      let caller =
        Fifo.fork (fun () -> says ~family:`Any t "192.0.2.1" "a.test")
      in
      eventually "it asks" ~pause:Fifo.yield (fun () -> Server.asked first = 2);
      Promise.fill blocked ();
      eventually "both are sent" (answered 2);
      Fifo.join caller);
  int "the second server" 0 (Server.asked second)

(* The resolver's own delay. *)
let half_by_default () =
  Server.with_ (for_kind Aaaa silent both) @@ fun s ->
  let dns =
    Concord_dns.create ~resolv_conf:nothing ~hosts:nothing
      ~servers:[ Server.address s ]
      ()
  in
  let start = Unix.gettimeofday () in
  says ~family:`Any dns "192.0.2.1" "a.test";
  let taken = Unix.gettimeofday () -. start in
  (* A try takes 5 s, and there are two. *)
  yes (Printf.sprintf "%g s" taken) (0.05 <= taken && taken < 4.)

(* A family without an address says nothing about the other. *)
let other_alone () =
  let dns = Atomic.make None in
  Server.with_ (last dns Aaaa both none) @@ fun s ->
  let t = create ~resolution_delay:0. [ s ] in
  Atomic.set dns (Some t);
  Concord_aio.run (fun () -> says ~family:`Any t "2001:db8::1" "a.test");
  (* The next server is asked too. *)
  Server.with_ (for_kind A none refuses) @@ fun first ->
  Server.with_ both @@ fun second ->
  says ~family:`Any
    (create ~resolution_delay:0. [ first; second ])
    "2001:db8::1" "a.test"

(* The time of [resolve] is over before that of the other family. *)
let half_in_time () =
  Server.with_ (for_kind Aaaa silent both) @@ fun s ->
  let dns = create ~limit:0.1 [ s ] in
  eventually "kept" (fun () ->
      Result.is_ok (Concord_dns.resolve ~family:`Ipv4 dns "a.test"));
  quick (fun () -> says ~family:`Any dns "192.0.2.1" "a.test")

(* A half answer doesn't count as a whole one, but for a second nobody waits again. *)
let half_kept () =
  let now = ref 1000. and bad = Atomic.make true and count = Atomic.make 0 in
  let aaaa query = if Atomic.get bad then silent query else both query in
  Server.with_ (asked_for Aaaa count (for_kind Aaaa aaaa both)) @@ fun s ->
  let dns = create ~now:(fun () -> !now) ~resolution_delay:0.01 [ s ] in
  says ~family:`Any dns "192.0.2.1" "a.test";
  eventually "asked" (fun () -> Atomic.get count = 1);
  now := 1000.9;
  quick (fun () -> says ~family:`Any dns "192.0.2.1" "a.test");
  int "not again" 1 (Atomic.get count);
  now := 1001.;
  says ~family:`Any dns "192.0.2.1" "a.test";
  eventually "again" (fun () -> Atomic.get count = 2);
  Atomic.set bad false;
  says ~family:`Ipv6 dns "2001:db8::1" "a.test";
  says ~family:`Any dns "192.0.2.1 2001:db8::1" "a.test";
  int "a query of one family isn't shortened" 3 (Atomic.get count);
  (* An address that has expired is asked for again, whatever is known of the other family. *)
  Atomic.set bad true;
  let dns = create ~now:(fun () -> !now) ~resolution_delay:0.01 [ s ] in
  says ~family:`Ipv4 dns "192.0.2.1" "a.test";
  now := 1060.5;
  says ~family:`Any dns "192.0.2.1" "a.test";
  let before = Server.asked s in
  now := 1061.;
  says ~family:`Any dns "192.0.2.1" "a.test";
  eventually "both again" (fun () -> Server.asked s = before + 2)

(* A task that runs the query no longer needs it, so another one asks the other servers. *)
let half_shared () =
  let dns = Atomic.make None and gate = Promise.create () in
  let answer query =
    Promise.await gate;
    both query
  in
  Server.with_ (last dns Aaaa refuses answer) @@ fun first ->
  Server.with_ both @@ fun second ->
  let t = create [ first; second ] in
  Atomic.set dns (Some t);
  Concord_aio.run @@ fun () ->
  quick (fun () ->
      let says family expected () = says ~family t expected "a.test" in
      let any = Fifo.fork (says `Any "192.0.2.1") in
      eventually "it asks" ~pause:Fifo.yield (fun () -> Server.asked first = 2);
      let ipv6 = Fifo.fork (says `Ipv6 "2001:db8::1") in
      (* It needs a few turns to join the query. *)
      for _ = 1 to 100 do
        Fifo.yield ()
      done;
      Promise.fill gate ();
      Fifo.join any;
      Fifo.join ipv6);
  int "the first server" 3 (Server.asked first);
  int "the second one" 1 (Server.asked second)

let x_two = Server.address_of "x.two.test" "192.0.2.2"

(* "No such name" is about both families (RFC 8020), in either order. *)
let no_name_beside_error () =
  with_file [ "search one.test two.test" ] @@ fun resolv_conf ->
  let answer kind bad query =
    if name_of query = "x.one.test" then for_kind kind no_name bad query
    else knows [ x_two ] query
  in
  List.iter
    (fun (kind, bad, resolution_delay) ->
      Server.with_ (answer kind bad) @@ fun s ->
      let dns = create ~resolv_conf ~resolution_delay [ s ] in
      quick (fun () -> says ~family:`Any dns "192.0.2.2" "x");
      quick (fun () -> says ~family:`Any dns "no such name" "x.one.test."))
    [
      (Message.A, refuses, 20.);
      (Message.Aaaa, refuses, 20.);
      (Message.A, silent, 0.01);
      (Message.Aaaa, silent, 0.01);
    ]

let no_name_kept () =
  let now = ref 1000. in
  Server.with_ no_name @@ fun s ->
  let dns = create ~now:(fun () -> !now) [ s ] in
  says ~family:`Ipv6 dns "no such name" "a.test";
  says ~family:`Ipv4 dns "no such name" "a.test";
  says ~family:`Any dns "no such name" "a.test";
  int "one query" 1 (Server.asked s);
  now := 1061.;
  says ~family:`Ipv4 dns "no such name" "a.test";
  int "expired" 2 (Server.asked s)

(* Some servers say that there is no such name, though it has an address of the other family. *)
let wrong_no_name () =
  let a = Server.address_of ~ttl:10 "a.test" "192.0.2.1" in
  List.iter
    (fun kind ->
      let now = ref 1000. and dns = Atomic.make None in
      let answer = for_kind Aaaa no_name (knows [ a ]) in
      Server.with_ (last dns kind answer answer) @@ fun s ->
      let t = create ~now:(fun () -> !now) [ s ] in
      Atomic.set dns (Some t);
      let says family expected = says ~family t expected "a.test" in
      says `Any "192.0.2.1";
      (* The address expires before the wrong answer. *)
      now := 1020.;
      says `Any "192.0.2.1";
      says `Ipv6 "the name has no address of this kind")
    [ Message.A; Aaaa ]

(* --- What is kept ----------------------------------------------------------- *)

let expiry () =
  let now = ref 1000. in
  Server.with_ (knows [ Server.address_of ~ttl:10 "a.test" "192.0.2.1" ])
  @@ fun s ->
  let dns = create ~now:(fun () -> !now) [ s ] in
  let asks n name =
    ignore (Concord_dns.resolve ~family:`Ipv4 dns name : _ result);
    int name n (Server.asked s)
  in
  asks 1 "a.test";
  now := 1009.;
  asks 1 "A.test";
  now := 1010.;
  asks 2 "a.test";
  asks 3 "none.test";
  now := 1069.;
  asks 3 "none.test";
  now := 1071.;
  asks 4 "none.test"

let not_kept () =
  Server.with_ (fun query -> [ Server.reply ~code:3 [] query ]) @@ fun s ->
  let dns = create [ s ] in
  says dns "no such name" "a.test";
  says dns "no such name" "a.test";
  int "without a SOA record" 2 (Server.asked s);
  Server.with_ refuses @@ fun s ->
  let dns = create [ s ] in
  let ask () =
    ignore (Concord_dns.resolve ~family:`Ipv4 dns "a.test" : _ result)
  in
  ask ();
  ask ();
  int "an error" 2 (Server.asked s)

let bounded () =
  let any query =
    [ Server.reply [ Server.address_of (name_of query) "192.0.2.1" ] query ]
  in
  Server.with_ any @@ fun s ->
  let dns = create ~size:2 [ s ] in
  List.iter (says dns "192.0.2.1") [ "a"; "b"; "c"; "b"; "c"; "a" ];
  int "a was dropped" 4 (Server.asked s)

(* --- One query for all ------------------------------------------------------ *)

(* Answers once [gate] is open. *)
let behind gate answer query =
  Promise.await gate;
  answer query

let thousand () =
  let gate = Promise.create () in
  Server.with_ (behind gate (knows [ a_test ])) @@ fun s ->
  let dns = create [ s ] in
  let begun = ref 0 in
  Concord_aio.run (fun () ->
      Tasks.iter
        (fun i ->
          incr begun;
          (* The last task runs when all the others wait. *)
          if i = 1000 then Promise.fill gate ();
          says dns "192.0.2.1" "a.test")
        (List.init 1001 Fun.id));
  int "in progress" 0 (Concord_dns.in_progress dns);
  int "begun" 1001 !begun;
  int "queries" 1 (Server.asked s)

(* The task that runs the query is cancelled, but the next task still gets the answer. *)
let cancelled_asker () =
  let gate = Promise.create () in
  Server.with_ (behind gate (knows [ a_test ])) @@ fun s ->
  let dns = create [ s ] in
  Concord_aio.run @@ fun () ->
  let first =
    Fifo.fork (fun () ->
        ignore (Concord_dns.resolve ~family:`Ipv4 dns "a.test" : _ result);
        Alcotest.fail "cancelled")
  in
  let others =
    List.init 3 (fun _ ->
        Fifo.fork_promise (fun () ->
            resolved (Concord_dns.resolve ~family:`Ipv4 dns "a.test")))
  in
  Fifo.yield ();
  Fifo.cancel first;
  (match Fifo.join first with () -> () | exception _ -> ());
  Promise.fill gate ();
  List.iter
    (fun p -> Alcotest.(check string) "others" "192.0.2.1" (Promise.await p))
    others

(* Afterwards nothing of the query remains, so the next task sends another one. *)
let all_cancelled () =
  Server.with_ silent @@ fun s ->
  let dns = create [ s ] in
  Concord_aio.run @@ fun () ->
  let ask () =
    ignore (Concord_dns.resolve ~family:`Ipv4 dns "a.test" : _ result)
  in
  let give_up n =
    no "cancelled"
      (Option.is_some
         (Tasks.with_timeout 0.03 (fun () -> Tasks.iter ask [ (); () ])));
    eventually "asked" ~pause:Fifo.yield (fun () -> Server.asked s >= n)
  in
  give_up 1;
  give_up 2;
  int "in progress" 0 (Concord_dns.in_progress dns)

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
  let test name f = test name (leaves_none f) in
  run "dns"
    [
      ( "answers",
        [
          test "both families" both_families;
          test "aliases" aliases;
          test "truncated" truncated;
          test "lies" lies;
          test "wrong source" wrong_source;
        ] );
      ( "servers",
        [
          test "a race, one silent" silent_race;
          test "a race, all fail" all_fail_race;
          test "in turn" in_turn;
          test "attempts" attempts;
          test "timeouts" timeouts;
          test "no server" no_server;
          test "unusable" unusable;
        ] );
      ( "families",
        [
          test "half" half;
          test "half, both at once" half_at_once;
          test "half, by default" half_by_default;
          test "the other alone" other_alone;
          test "half, in time" half_in_time;
          test "half, kept" half_kept;
          test "half, shared" half_shared;
          test "no name, and an error" no_name_beside_error;
          test "no name, kept" no_name_kept;
          test "no name, wrongly" wrong_no_name;
        ] );
      ( "kept",
        [
          test "expiry" expiry; test "not kept" not_kept; test "bounded" bounded;
        ] );
      ( "one query",
        [
          test "a thousand" thousand;
          test "cancelled asker" cancelled_asker;
          test "all cancelled" all_cancelled;
        ] );
      ( "names",
        [
          test "files" files;
          test "no server sees" no_server_sees;
          test "refused" refused;
        ] );
      ( "hosts",
        [
          test "fifo" (on_host (fun f -> Fifo.run f));
          test "aio" (on_host Concord_aio.run);
          test "thread" (on_host in_thread);
          test "eio" (on_host (fun f -> Eio_main.run (fun _ -> f ())));
        ] );
      ("real", if on_path "dnsmasq" then [ test "dnsmasq" dnsmasq ] else []);
    ]
