(* Both families of addresses, if one of them is late, fails or is missing. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
open Dns_kit

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

let () =
  run "dns, families"
    [
      ( "families",
        [
          ("half", half);
          ("half, both at once", half_at_once);
          ("half, by default", half_by_default);
          ("the other alone", other_alone);
          ("half, in time", half_in_time);
          ("half, kept", half_kept);
          ("half, shared", half_shared);
          ("no name, and an error", no_name_beside_error);
          ("no name, kept", no_name_kept);
          ("no name, wrongly", wrong_no_name);
        ] );
    ]
