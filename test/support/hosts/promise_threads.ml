(* What other threads do with the loop of a library of promises: they resume its tasks, and post
   jobs. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

module Make (L : Promise_cases.LIBRARY) = struct
  module Cases = Promise_cases.Make (L)

  let ( let* ) = L.bind
  let ( let+ ) p f = L.map f p

  (* --- Resuming ------------------------------------------------------------- *)

  let domains = 4

  (* Several domains wake many tasks at once, and only the loop's thread continues them. *)
  let burst () =
    let n = 10_000 and woken = ref 0 and elsewhere = Atomic.make 0 in
    let promises = Array.init n (fun _ -> Promise.create ()) in
    let wait p =
      let+ () = L.Promise.await p in
      if not (L.is_here ()) then Atomic.incr elsewhere;
      incr woken
    in
    let fill domain () =
      Array.iteri
        (fun i p -> if i mod domains = domain then Promise.fill p ())
        promises
    in
    L.run (fun () ->
        let all = List.map wait (Array.to_list promises) in
        let joins = List.init domains (fun i -> Check.domain (fill i)) in
        let+ () = Cases.iter Fun.id all in
        List.iter (fun join -> join ()) joins);
    int "woken" n !woken;
    int "in another thread" 0 (Atomic.get elsewhere)

  exception Interrupted

  (* Waits until the test resumes it by hand. *)
  let waiting waiters =
    {
      Structure_kit.default with
      name = "test";
      how =
        By_hand
          {
            attempt = (fun () () -> None);
            enlist =
              (fun () w ->
                waiters := w :: !waiters;
                true);
            withdraw = (fun () _ -> ());
          };
    }

  let patience = 10.

  (* If a resumer raises, its task has been resumed, by this resumer or by another one (H2). *)
  let interrupted () =
    let n = 10_000 and interruptions = ref 0 and rounds = ref 0 in
    while !interruptions < 300 && !rounds < 100 do
      incr rounds;
      L.run @@ fun () ->
      let waiters = ref [] and answers = ref 0 in
      let wait _ = L.sync (Event.make (waiting waiters) () ()) in
      let all = List.init n wait in
      (* With CONCORD_DEBUG=strict, operations pause before they wait if many are performed at
         once. *)
      let rec all_wait () =
        if List.compare_length_with !waiters n < 0 then
          L.bind (L.pause ()) all_wait
        else L.return ()
      in
      let* () = all_wait () in
      let left = ref !waiters and called = ref false in
      let next answer =
        called := false;
        left := List.tl !left;
        if answer then incr answers
      in
      let resume_all () =
        while not (List.is_empty !left) do
          let w = List.hd !left in
          match
            called := true;
            w.Structure_kit.resumer (Ok ())
          with
          | answer -> next answer
          | exception e ->
              if !called then next true;
              raise e
        done
      in
      Interrupting.run ~by:Interrupted ~count:interruptions resume_all;
      let deadline = Unix.gettimeofday () +. patience in
      let rec none_is_lost () =
        let waiting = List.filter Cases.waits all in
        if List.is_empty waiting then L.return ()
        else if Unix.gettimeofday () > deadline then
          Alcotest.failf "%d of %d are lost" (List.length waiting) n
        else L.bind (L.sleep 0.001) none_is_lost
      in
      let+ () = none_is_lost () in
      yes "not more than once" (!answers <= n)
    done;
    yes "it was interrupted" (!interruptions > 0)

  (* --- Waiting ------------------------------------------------------------------ *)

  let is_refused f =
    match f () with
    | (_ : _ L.promise) -> false
    | exception Invalid_argument _ -> true

  (* There, an operation that has to wait is refused, and leaves nothing behind. An operation that
     need not wait is performed. In direct style, the thread waits as any thread does. *)
  let elsewhere () =
    let box = Mvar.create_empty () and full = Mvar.create 1 in
    let mutex = Mutex.create () and has_ended = ref false in
    let t = Lazy.from_fun (fun () -> Mvar.take box) in
    let code () =
      Mutex.protect mutex @@ fun () ->
      Fun.protect
        (fun () -> Mvar.take box)
        ~finally:(fun () -> has_ended := true)
    in
    let attempts () =
      (* After this, Concord has to find out which scheduler is the innermost one. *)
      no "cancelled" (Suspend.is_cancelled ());
      [
        ("take", is_refused (fun () -> L.Mvar.take box));
        ("put", is_refused (fun () -> L.Mvar.put full 2));
        ("swap", is_refused (fun () -> L.Mvar.swap box 2));
        ("force", is_refused (fun () -> L.Lazy.force t));
        ("select", is_refused (fun () -> L.select [ Mvar.take_evt box ]));
        ("direct", is_refused (fun () -> L.direct code));
        ("read", L.peek (L.Mvar.read full) = Some 1);
        ("direct style", Mvar.read full = 1);
      ]
    in
    let check where attempts =
      List.iter (fun (name, ok) -> yes (where ^ ": " ^ name) ok) attempts;
      yes (where ^ ": the code has ended") !has_ended;
      has_ended := false
    in
    L.run @@ fun () ->
    let* () = L.pause () in
    check "a thread" (in_thread attempts);
    check "a domain" (in_domain attempts);
    int "no task waits" 0 (Mvar.waiters box + Mvar.waiters full);
    no "unlocked" (Mutex.is_locked mutex);
    (* Here the operation works. *)
    let p = L.Mvar.take box in
    in_domain (fun () -> Mvar.put box 3);
    let+ v = p in
    int "the value" 3 v

  let in_other_threads =
    [
      test "waiting is refused" elsewhere;
      test "many tasks are woken by several domains" burst;
      test "signal handlers that raise in a resumer" interrupted;
    ]

  (* --- Jobs ------------------------------------------------------------------- *)

  (* Runs the loop until [f ()], in another domain, has ended. *)
  let beside f =
    L.run @@ fun () ->
    let over = Promise.create () in
    (* Until then, the adapter may not know about the loop. *)
    let* () = L.pause () in
    let join =
      Check.domain (fun () ->
          Fun.protect f ~finally:(fun () -> Promise.fill over ()))
    in
    let+ () = L.Promise.await over in
    join ()

  let from_a_domain () =
    beside @@ fun () ->
    let job n () =
      yes "in the loop's thread" (L.is_here ());
      let* () = L.pause () in
      let+ () = L.sleep 0.001 in
      yes "still there" (L.is_here ());
      n + 1
    in
    for n = 1 to 50 do
      int "the value" (n + 1) (Promise.await (L.post (job n)))
    done;
    (* The loop sleeps when the job comes. *)
    raises "what is raised" Exit (fun () ->
        Promise.await (L.post (fun () -> raise Exit)));
    raises "what fails" Not_found (fun () ->
        Promise.await
          (L.post (fun () -> L.map (fun () -> raise Not_found) (L.pause ()))))

  (* Several domains post at once. No job is lost, and the jobs of one thread keep their
     order. *)
  let in_order () =
    let each = 2_000 in
    let seen = Array.make domains 0 and disorder = ref 0 in
    let over = Latch.create domains in
    let poster i () =
      let last = ref (Promise.of_value ()) in
      for n = 0 to each - 1 do
        last :=
          L.post (fun () ->
              if seen.(i) <> n then incr disorder;
              seen.(i) <- n + 1;
              L.return ())
      done;
      Promise.await !last;
      Latch.count_down over
    in
    L.run (fun () ->
        let joins = List.init domains (fun i -> Check.domain (poster i)) in
        let+ () = L.Latch.await over in
        List.iter (fun join -> join ()) joins);
    Array.iter (int "all" each) seen;
    int "in order" 0 !disorder

  (* A job that posts another job, and a job that the loop's own code posts. *)
  let from_the_loop () =
    L.run @@ fun () ->
    let inner = ref (Promise.create ()) in
    let outer =
      L.post (fun () ->
          inner := L.post (fun () -> L.return 2);
          L.return 1)
    in
    no "not at once" (Promise.is_resolved outer);
    let* one = L.Promise.await outer in
    let+ two = L.Promise.await !inner in
    int "the sum" 3 (one + two)

  (* The job begins when the loop runs. *)
  let before_the_loop () =
    let promise = in_domain (fun () -> L.post (fun () -> L.return 1)) in
    no "not yet" (Promise.is_resolved promise);
    int "the value" 1 (L.run (fun () -> L.Promise.await promise))

  let jobs =
    [
      test "from a domain" from_a_domain;
      test "many, in order" in_order;
      test "from the loop itself" from_the_loop;
    ]
end
