(* Jobs that other threads and domains post to Lwt's loop. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
open Lwt.Syntax
module Threads = Promise_threads.Make (In_lwt.Library)
module Plain_threads = Promise_threads.Make (In_lwt.Plain)

let plain = In_lwt.Plain.run

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
  Threads.beside (fun () ->
      let job () = Promise.await (Concord_lwt.post Lwt.return) in
      for _ = 1 to 100 do
        job ()
      done;
      Promise.await (Concord_lwt.post (fun () -> loop_waits used)));
  if !used > 0.05 then Alcotest.failf "idle, it used %.3f s of CPU" !used

(* --- Without a loop -------------------------------------------------------- *)

(* This must come first, because the job waits for the first loop. *)
let before_the_first () =
  Plain_threads.before_the_loop ();
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
        Threads.jobs
        @ [
            test "from a domain, in Lwt_main.run" Plain_threads.from_a_domain;
            test "from a signal handler" in_signal_handler;
          ]
        @ Interrupting.only
            (test "while signal handlers raise, to a loop that sleeps"
               interrupted)
        @ [ test "an idle loop uses no CPU" idle ] );
    ]
