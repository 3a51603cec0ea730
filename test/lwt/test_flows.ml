(* Lwt's own promises and streams. *)

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

(* --- Promises --- *)

let of_lwt () =
  run @@ fun () ->
  let open Concord_lwt in
  let one, wake_one = Lwt.wait () and other, wake_other = Lwt.wait () in
  let p = of_lwt one and q = of_lwt other in
  let got = Atomic.make (Ok 0) in
  let join =
    Check.domain (fun () ->
        assert (Concord.Promise.await p = 1);
        Atomic.set got
          (match Concord.Promise.await q with
          | v -> Ok v
          | exception e -> Error e))
  in
  Lwt.wakeup_later wake_one 1;
  Lwt.wakeup_later_exn wake_other Boom;
  let* e = failure (to_lwt q) in
  yes "there and back" (e = Boom);
  join ();
  yes "the failure is there" (Atomic.get got = Error Boom);
  (* The test may fill the promise itself before Lwt does. *)
  let third, wake_third = Lwt.wait () in
  let r = Concord_lwt.of_lwt third in
  Promise.fill r 3;
  Lwt.wakeup wake_third 4;
  let+ v = to_lwt r in
  int "the first value" 3 v

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
      ("promises", [ test "of_lwt and to_lwt" of_lwt ]);
      ( "Lwt_stream",
        [
          test "of a structure" to_lwt_stream;
          test "fails" fails_with_its_event;
          test "into a stream" feed;
          test "into a stream that ends" feed_ends;
        ] );
    ]
