(* Many values come from other domains. None is lost, and handlers run only in Async's thread. *)

open Concord
open Concord_test_support
open Check
open In_async
module Scheduler = Async.Scheduler

let mine = Domain.self ()

(* Counts handlers that run in another thread. *)
let misplaced = Atomic.make 0

let placed () =
  if Domain.self () <> mine || not (Async.Thread_safe.am_holding_async_lock ())
  then Atomic.incr misplaced

let domains = 4

let burst () =
  Atomic.set misplaced 0;
  async (fun () ->
      let each = 2_500 in
      let woken = ref 0 in
      let promises =
        Array.init domains (fun _ ->
            Array.init each (fun _ -> Promise.create ()))
      in
      let wait p =
        Deferred.map (A.Promise.await p) ~f:(fun () ->
            placed ();
            incr woken)
      in
      let all =
        Array.to_list promises
        |> List.concat_map (fun ps -> List.map wait (Array.to_list ps))
      in
      let fill ps () = Array.iter (fun p -> Promise.fill p ()) ps in
      let* () =
        Deferred.all_unit
          (List.map
             (fun ps -> in_domain Concord_fifo.run (fill ps))
             (Array.to_list promises))
      in
      let* () = Deferred.all_unit all in
      int "woken" (domains * each) !woken;
      Deferred.return ());
  int "handlers elsewhere" 0 (Atomic.get misplaced)

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

(* After the bytes were read, Async sleeps. *)
let idle () =
  async @@ fun () ->
  let m = Mvar.create_empty () in
  let taken = A.Mvar.take m in
  let* () = in_domain Concord_fifo.run (fun () -> Mvar.put m ()) in
  let* () = taken in
  let before = Scheduler.cycle_count () in
  let* () = Async.Clock.after (Core.Time_float.Span.of_sec 0.05) in
  yes "sleeps" (Scheduler.cycle_count () - before < 100);
  Deferred.return ()

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
        test "a burst" burst;
        test "idle after" idle;
        test "values of a mailbox" mailbox_values;
        test "values of a stream" stream_values;
      ] );
  ]
