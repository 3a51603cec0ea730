(* Items one after the other, with iter_s, fold_s and Lwt's own streams, and permits. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run

let failure p =
  Lwt.try_bind
    (fun () -> p)
    (fun _ -> Alcotest.fail "it did not fail")
    Lwt.return

(* --- iter_s, fold_s ------------------------------------------------------- *)

type 'a flow = {
  name : string;
  send : int -> unit;  (** Called in another domain. *)
  close : unit -> unit;
  iter_s : (int -> unit Lwt.t) -> unit Lwt.t;
  fold_s : ('a -> int -> 'a Lwt.t) -> 'a -> 'a Lwt.t;
  waiters : unit -> int;
}

let flow name sink source ~send ~close ~iter_s ~fold_s ~waiters =
  {
    name;
    send = send sink;
    close = (fun () -> close sink);
    iter_s = (fun f -> iter_s f source);
    fold_s = (fun f acc -> fold_s f acc source);
    waiters = (fun () -> waiters source);
  }

let flows () =
  let m = Mailbox.create () and s = Stream.create 1 in
  let c = Channel.create () and b = Broadcast.create () in
  [
    Concord_lwt.Mailbox.(
      flow "Mailbox" m m ~send:Mailbox.add ~close ~iter_s ~fold_s ~waiters);
    Concord_lwt.Stream.(
      flow "Stream" s s ~send:Stream.add ~close ~iter_s ~fold_s ~waiters);
    Concord_lwt.Channel.(
      flow "Channel" c c ~send:Channel.send ~close ~iter_s ~fold_s ~waiters);
    Concord_lwt.Broadcast.(
      flow "Broadcast" b (subscribe b) ~send:Concord.Broadcast.send ~close
        ~iter_s ~fold_s ~waiters);
  ]

let each f = run (fun () -> Lwt_list.iter_s f (flows ()))

let in_order () =
  each @@ fun { name; send; close; fold_s; _ } ->
  let join =
    Check.domain (fun () ->
        List.iter send [ 1; 2; 3; 4 ];
        close ())
  in
  let+ all =
    fold_s
      (fun all n ->
        let+ () = Lwt.pause () in
        n :: all)
      []
  in
  join ();
  yes name (all = [ 4; 3; 2; 1 ])

(* The next item isn't taken before [f] is done. If [f] fails, that isn't the end of the flow. *)
let one_by_one () =
  each @@ fun { name; send; close; iter_s; waiters; _ } ->
  let busy = ref false and seen = ref 0 in
  let iterated =
    iter_s (fun n ->
        no (name ^ ": one at a time") !busy;
        busy := true;
        let* () = turns 3 in
        busy := false;
        seen := n;
        if n = 3 then Lwt.fail Mailbox.Closed else Lwt.return_unit)
  in
  let join = Check.domain (fun () -> List.iter send [ 1; 2; 3 ]) in
  let* e = failure iterated in
  join ();
  yes (name ^ ": what f failed with") (e = Mailbox.Closed);
  int (name ^ ": all were seen") 3 !seen;
  (* Cancels it while it waits. *)
  let iterated = iter_s (fun _ -> Lwt.return_unit) in
  int (name ^ ": it waits") 1 (waiters ());
  Lwt.cancel iterated;
  yes (name ^ ": cancelled") (is_cancelled iterated);
  int (name ^ ": withdrawn") 0 (waiters ());
  close ();
  iter_s (fun _ -> Lwt.fail Exit)

let long () =
  run @@ fun () ->
  let n = 100_000 in
  let m = Mailbox.create () in
  for i = 1 to n do
    Mailbox.add m i
  done;
  Mailbox.close m;
  let+ sum =
    Concord_lwt.Mailbox.fold_s (fun sum v -> Lwt.return (sum + v)) 0 m
  in
  int "the sum" (n * (n + 1) / 2) sum

(* --- Permits -------------------------------------------------------------- *)

let with_permit () =
  let each (name, with_permit, try_acquire, waiters) =
    let now f = with_permit (fun () -> f ()) in
    let* v =
      now (fun () ->
          no (name ^ ": the permit is free") (try_acquire ());
          let+ () = Lwt.pause () in
          1)
    in
    int (name ^ ": the value") 1 v;
    let* e = failure (now (fun () -> Lwt.fail Exit)) in
    yes (name ^ ": fails") (e = Exit);
    let* e = failure (now (fun () -> raise Not_found)) in
    yes (name ^ ": raises") (e = Not_found);
    let never, _ = Lwt.task () in
    let first = now (fun () -> never) in
    let second = now (fun () -> Lwt.return 2) in
    let third = now (fun () -> Lwt.return 3) in
    int (name ^ ": they wait") 2 (waiters ());
    Lwt.cancel second;
    yes (name ^ ": cancelled") (is_cancelled second);
    Lwt.cancel first;
    let+ v = third in
    int (name ^ ": the next") 3 v;
    yes (name ^ ": released") (try_acquire ())
  in
  let c = Semaphore.Counting.make 1 and b = Semaphore.Binary.make true in
  run @@ fun () ->
  let* () =
    each
      ( "Counting",
        (fun f -> Concord_lwt.Semaphore.Counting.with_permit c f),
        (fun () -> Semaphore.Counting.try_acquire c),
        fun () -> Semaphore.Counting.waiters c )
  in
  each
    ( "Binary",
      (fun f -> Concord_lwt.Semaphore.Binary.with_permit b f),
      (fun () -> Semaphore.Binary.try_acquire b),
      fun () -> Semaphore.Binary.waiters b )

(* --- Lwt_stream ----------------------------------------------------------- *)

let to_lwt_stream () =
  run @@ fun () ->
  let m = Stream.create 1 in
  let s = Concord_lwt.to_lwt_stream (Stream.take_evt m) in
  Stream.add m 1;
  no "nothing is taken unasked" (Stream.is_empty m);
  let* first = Lwt_stream.next s in
  int "the first" 1 first;
  (* The reading task is cancelled, so the item goes to the next one. *)
  let asked = Lwt_stream.next s in
  Lwt.cancel asked;
  yes "cancelled" (is_cancelled asked);
  let join =
    Check.domain (fun () ->
        List.iter (Stream.add m) [ 2; 3; 4 ];
        Stream.close m)
  in
  let+ rest = Lwt_stream.to_list s in
  join ();
  yes "the rest, and the end" (rest = [ 2; 3; 4 ])

let fails_with_its_event () =
  run @@ fun () ->
  let p : int Promise.t = Promise.create () in
  let s = Concord_lwt.to_lwt_stream (Promise.await_evt p) in
  Promise.fail p Exit;
  let+ e = failure (Lwt.catch (fun () -> Lwt_stream.next s) Lwt.fail) in
  yes "what it raised" (e = Exit)

let feed () =
  run @@ fun () ->
  let m = Stream.create 2 in
  let s = Lwt_stream.of_list [ 1; 2; 3; 4 ] in
  let fed = Concord_lwt.feed m s in
  let* () = turns 5 in
  int "it is full" 2 (Stream.length m);
  yes "it waits" (Lwt.is_sleeping fed);
  let rec all taken =
    match Stream.take m with
    | v -> all (v :: taken)
    | exception Stream.Closed -> taken
  in
  let taken = Promise.create () in
  let join = Check.domain (fun () -> Promise.fill taken (all [])) in
  let* () = fed in
  let+ all = Concord_lwt.to_lwt taken in
  join ();
  yes "all, and the end" (all = [ 4; 3; 2; 1 ])

(* Each item is in one of the two streams. *)
let feed_ends () =
  run @@ fun () ->
  let fed_up items end_ =
    let m = Stream.create 1 and s = Lwt_stream.of_list items in
    let fed = Concord_lwt.feed m s in
    let* () = turns 3 in
    let* () = end_ m fed in
    yes "closed" (Stream.is_closed m);
    let here = Stream.drain m in
    let+ there = Lwt_stream.to_list s in
    yes "nothing is lost" (here @ there = items)
  in
  let* () =
    fed_up [ 1; 2; 3 ] (fun m fed ->
        Stream.close m;
        fed)
  in
  let* () =
    fed_up [ 1; 2; 3 ] (fun _ fed ->
        Lwt.cancel fed;
        let+ e = failure fed in
        yes "cancelled" (e = Lwt.Canceled))
  in
  let m = Stream.create 1 in
  let s = Lwt_stream.from (fun () -> Lwt.fail Exit) in
  let+ e = failure (Concord_lwt.feed m s : unit Lwt.t) in
  yes "fails" (e = Exit);
  yes "closed" (Stream.is_closed m)

let () =
  Check.run "Concord_lwt, flows"
    [
      ( "one by one",
        [
          test "in order, to the end" in_order;
          test "f waits, fails, is cancelled" one_by_one;
          test "many" long;
        ] );
      ("permits", [ test "with_permit" with_permit ]);
      ( "Lwt_stream",
        [
          test "of a structure" to_lwt_stream;
          test "fails" fails_with_its_event;
          test "into a stream" feed;
          test "into a stream that ends" feed_ends;
        ] );
    ]
