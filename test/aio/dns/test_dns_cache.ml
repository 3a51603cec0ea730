(* Answers are kept, and tasks that ask at once share one query. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
open Dns_kit

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

let () =
  run "dns, cache"
    [
      ( "kept",
        [ ("expiry", expiry); ("not kept", not_kept); ("bounded", bounded) ] );
      ( "one query",
        [
          ("a thousand", thousand);
          ("cancelled asker", cancelled_asker);
          ("all cancelled", all_cancelled);
        ] );
    ]
