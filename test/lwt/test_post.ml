(* Jobs that other threads and domains post to Lwt's loop. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let thread () = (Domain.self (), Thread.id (Thread.self ()))
let plain f = Lwt_main.run (f ())
let both = [ ("Concord_lwt.run", Concord_lwt.run); ("Lwt_main.run", plain) ]

(* Runs the loop until [f ()], in another domain, has ended. *)
let beside run f =
  run @@ fun () ->
  let over = Promise.create () in
  (* Until then, Concord_lwt doesn't know about a plain loop. *)
  let* () = Lwt.pause () in
  let join =
    Check.domain (fun () ->
        Fun.protect f ~finally:(fun () -> Promise.fill over ()))
  in
  let+ () = Concord_lwt.Promise.await over in
  join ()

let in_the_loop run () =
  let loop = thread () in
  beside run @@ fun () ->
  let job n () =
    yes "in the loop's thread" (thread () = loop);
    let* () = Lwt.pause () in
    let+ () = Lwt_unix.sleep 0.001 in
    yes "still there" (thread () = loop);
    n + 1
  in
  for n = 1 to 50 do
    int "the value" (n + 1) (Promise.await (Concord_lwt.post (job n)))
  done;
  (* The loop sleeps when the job comes. *)
  raises "what is raised" Exit (fun () ->
      Promise.await (Concord_lwt.post (fun () -> raise Exit)));
  raises "what fails" Not_found (fun () ->
      Promise.await
        (Concord_lwt.post (fun () ->
             Lwt.bind (Lwt.pause ()) (fun () -> Lwt.fail Not_found))))

(* Several domains post at once. No job is lost, and the jobs of one thread keep their order. *)
let many () =
  let posters = 4 and each = 2_000 in
  let seen = Array.make posters 0 and disorder = ref 0 in
  let over = Latch.create posters in
  let poster i () =
    let last = ref (Promise.of_value ()) in
    for n = 0 to each - 1 do
      last :=
        Concord_lwt.post (fun () ->
            if seen.(i) <> n then incr disorder;
            seen.(i) <- n + 1;
            Lwt.return_unit)
    done;
    Promise.await !last;
    Latch.count_down over
  in
  Concord_lwt.run (fun () ->
      let joins = List.init posters (fun i -> Check.domain (poster i)) in
      let+ () = Concord_lwt.Latch.await over in
      List.iter (fun join -> join ()) joins);
  Array.iter (int "all" each) seen;
  int "in order" 0 !disorder

(* A job that posts another job, and a job that the loop's own code posts. *)
let from_the_loop () =
  Concord_lwt.run @@ fun () ->
  let inner = ref (Promise.create ()) in
  let outer =
    Concord_lwt.post (fun () ->
        inner := Concord_lwt.post (fun () -> Lwt.return 2);
        Lwt.return 1)
  in
  no "not at once" (Promise.is_resolved outer);
  let* one = Concord_lwt.Promise.await outer in
  let+ two = Concord_lwt.Promise.await !inner in
  int "the sum" 3 (one + two)

let in_signal_handler () =
  Concord_lwt.run @@ fun () ->
  let posted = Promise.create () in
  let handle _ =
    ignore
      (Concord_lwt.post (fun () ->
           Promise.fill posted ();
           Lwt.return 0))
  in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handle) in
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  let+ () = Concord_lwt.Promise.await posted in
  Sys.set_signal Sys.sigusr1 before

(* A handler raises at any allocation of a thread that posts a job to a sleeping loop. Whether that
   job was posted or not, the loop serves the next one. The loop sleeps after its last hook. *)
let interrupted () =
  Interrupting.at_every_allocation @@ fun () ->
  let served, serve = Lwt.wait () in
  let next () = Lwt.return (Lwt.wakeup serve true) and in_time = ref false in
  let post armed =
    let is_first = ref true in
    let hook () =
      if !is_first && Lwt.paused_count () = 0 then begin
        is_first := false;
        armed := true;
        (try ignore (Concord_lwt.post Lwt.return : unit Promise.t)
         with Exit -> ());
        armed := false;
        ignore (Concord_lwt.post next : unit Promise.t)
      end
    in
    let hook = Lwt_main.Enter_iter_hooks.add_last hook in
    let late = Lwt.map (fun () -> false) (Lwt_unix.sleep 10.) in
    in_time := plain (fun () -> Lwt.choose [ served; late ]);
    Lwt_main.Enter_iter_hooks.remove hook;
    Lwt.cancel late
  and check what = yes what !in_time in
  (post, check)

let cpu () =
  let t = Unix.times () in
  t.tms_utime +. t.tms_stime

(* The loop spins for the next job, but not for long. *)
let idle () =
  let loop_waits used =
    let* () = Lwt_unix.sleep 0.001 in
    let started = cpu () in
    let+ () = Lwt_unix.sleep 0.3 in
    used := cpu () -. started
  in
  let used = ref 0. in
  beside Concord_lwt.run (fun () ->
      let job () = Promise.await (Concord_lwt.post Lwt.return) in
      for _ = 1 to 100 do
        job ()
      done;
      Promise.await (Concord_lwt.post (fun () -> loop_waits used)));
  if !used > 0.05 then Alcotest.failf "idle, it used %.3f s of CPU" !used

(* --- Without a loop -------------------------------------------------------- *)

(* This must come first, because the job waits for the first loop. *)
let before_the_first () =
  let promise =
    in_domain (fun () -> Concord_lwt.post (fun () -> Lwt.return 1))
  in
  no "not yet" (Promise.is_resolved promise);
  int "the value" 1 (plain (fun () -> Concord_lwt.Promise.await promise));
  (* Concord_lwt doesn't know that this loop has ended. *)
  let promise = Concord_lwt.post (fun () -> Lwt.return 2) in
  int "the next loop" 2
    (Concord_lwt.run (fun () -> Concord_lwt.Promise.await promise))

let refused what promise =
  raises what Concord_lwt.No_loop (fun () -> Promise.await promise)

(* Jobs that had not begun, and jobs that had not ended. *)
let after_the_end () =
  let never, waker = Lwt.wait () in
  let begun =
    Concord_lwt.run (fun () ->
        let begun = Concord_lwt.post (fun () -> never) in
        let+ () = Lwt_unix.sleep 0.001 in
        begun)
  in
  refused "begun" begun;
  let calls = ref 0 in
  let job () =
    incr calls;
    Lwt.return_unit
  in
  let posted = ref (Promise.create ()) in
  Concord_lwt.run (fun () ->
      posted := Concord_lwt.post job;
      Lwt.return_unit);
  refused "posted" !posted;
  refused "later" (Concord_lwt.post job);
  raises "a run that fails" Exit (fun () ->
      Concord_lwt.run (fun () ->
          posted := Concord_lwt.post job;
          raise Exit));
  refused "posted to it" !posted;
  (* The next loop works again. *)
  Lwt.wakeup waker ();
  Concord_lwt.run (fun () -> Concord_lwt.Promise.await (Concord_lwt.post job));
  int "called" 1 !calls;
  refused "later" (Concord_lwt.post job);
  plain (fun () ->
      let* () = Lwt.pause () in
      Concord_lwt.Promise.await (Concord_lwt.post job));
  int "called" 2 !calls

(* Nothing of a refused job stays in memory until the next loop. *)
let forgotten () =
  let kept = Weak.create 1 in
  Concord_lwt.run (fun () ->
      let value = ref 0 in
      Weak.set kept 0 (Some value);
      ignore (Concord_lwt.post (fun () -> Lwt.return !value) : int Promise.t);
      Lwt.return_unit);
  Gc.full_major ();
  no "kept" (Weak.check kept 0)

(* The end of the loop races with the posts of a domain. Each promise gets a value, or fails. *)
let race () =
  for _ = 1 to 200 do
    let calls = ref 0 and refused = ref 0 and n = 20 in
    let begun = Atomic.make false in
    let post () =
      let promises =
        List.init n (fun _ ->
            let p =
              Concord_lwt.post (fun () ->
                  incr calls;
                  Lwt.return_unit)
            in
            Atomic.set begun true;
            p)
      in
      List.iter
        (fun p ->
          match Promise.await p with
          | () -> ()
          | exception Concord_lwt.No_loop -> incr refused)
        promises
    in
    let join = ref ignore in
    Concord_lwt.run (fun () ->
        join := Check.domain post;
        eventually ~pause:Domain.cpu_relax "it began" (fun () ->
            Atomic.get begun);
        Lwt.pause ());
    !join ();
    int "each is called or refused" n (!calls + !refused)
  done

let () =
  Check.run "Concord_lwt.post"
    [
      ( "without a loop",
        [
          (* must come first *)
          test "before the first" before_the_first;
          test "after the end" after_the_end;
          test "refused, and forgotten" forgotten;
          test "racing with the end" race;
        ] );
      ( "jobs",
        List.map (fun (name, run) -> test name (in_the_loop run)) both
        @ [
            test "many, in order" many;
            test "from the loop itself" from_the_loop;
            test "from a signal handler" in_signal_handler;
          ]
        @ Interrupting.only
            (test "while signal handlers raise, to a loop that sleeps"
               interrupted)
        @ [ test "an idle loop uses no CPU" idle ] );
    ]
