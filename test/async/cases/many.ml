(* Many values come from other domains. None is lost, and handlers run only in Async's thread. *)

open Concord
open Concord_test_support
open Check
open In_async

let mine = Domain.self ()

(* Counts handlers that run in another thread. *)
let misplaced = Atomic.make 0

let placed () =
  if Domain.self () <> mine || not (Async.Thread_safe.am_holding_async_lock ())
  then Atomic.incr misplaced

let domains = 4

let values take put =
  let each = if Race.long then 250_000 else 25_000 in
  Atomic.set misplaced 0;
  async (fun () ->
      let seen = Bytes.make (domains * each) '0'
      and last = Array.make domains (-1) in
      let rec loop n =
        if n = 0 then Deferred.return ()
        else
          let* v = take () in
          placed ();
          let domain = v / each in
          if Bytes.get seen v <> '0' then Alcotest.failf "%d came twice" v;
          if last.(domain) >= v then Alcotest.failf "%d came late" v;
          Bytes.set seen v '1';
          last.(domain) <- v;
          loop (n - 1)
      in
      let send i () =
        for v = i * each to ((i + 1) * each) - 1 do
          put v
        done
      in
      let* () =
        Deferred.all_unit
          (loop (domains * each)
          :: List.init domains (fun i -> in_domain Concord_fifo.run (send i)))
      in
      no "a value is missing" (Bytes.contains seen '0');
      Deferred.return ());
  int "handlers elsewhere" 0 (Atomic.get misplaced)

let mailbox_values () =
  let m = Mailbox.create () in
  values (fun () -> A.Mailbox.take m) (Mailbox.add m)

let stream_values () =
  let s = Stream.create 10 in
  values (fun () -> A.Stream.take s) (Stream.add s)

let tests =
  [
    ( "many",
      [
        test "values of a mailbox" mailbox_values;
        test "values of a stream" stream_values;
      ] );
  ]
