(* Results of promises, and functions that are called when a promise is resolved. *)

open Concord
open Concord_test_support
open Check

exception Boom

(* Neither a tail call nor inlined, because the backtrace must name it. *)
let[@inline never] culprit () = if true then raise Boom
let waiting what p n = int (what ^ ": waiters") n (Promise.waiters p)
let is p outcome = Promise.peek p = Some outcome
let fail_by_culprit p = try culprit () with Boom -> Promise.fail p Boom

(* --- Results --------------------------------------------------------------- *)

let resolve () =
  let p = Promise.create () in
  Promise.resolve p (Ok 1);
  yes "filled" (is p (Ok 1));
  raises "again" Promise.Already_filled (fun () -> Promise.resolve p (Ok 2));
  no "try" (Promise.try_resolve p (Error Boom));
  let p = Promise.create () in
  yes "try" (Promise.try_resolve p (Error Boom));
  yes "failed" (is p (Error Boom));
  let p : int Promise.t = Promise.create () in
  let backtrace =
    match culprit () with
    | () -> assert false
    | exception Boom -> Printexc.get_raw_backtrace ()
  in
  (try raise Exit with Exit -> ());
  Promise.resolve ~backtrace p (Error Boom);
  raises_at "culprit" (fun () -> Promise.await p)

let await_result () =
  let p = Promise.create () and q = Promise.create () in
  let a = Hand.start (fun () -> Promise.await_result p) in
  let b = Hand.start (fun () -> Event.sync (Promise.await_result_evt q)) in
  let c = Hand.start (fun () -> Promise.await_result q) in
  Hand.unwind c;
  waiting "c is unwound" q 1;
  Promise.fill p 1;
  Promise.fail q Boom;
  Hand.settle ();
  yes "filled" (Hand.result a = Ok 1);
  yes "failed" (Hand.result b = Error Boom);
  yes "at once" (Promise.await_result p = Ok 1);
  yes "at once" (Promise.await_result q = Error Boom);
  yes "polled" (Event.poll (Promise.await_result_evt q) = Some (Error Boom))

let chose_another () =
  let p : unit Promise.t = Promise.create () and q = Promise.create () in
  let task =
    Hand.start (fun () ->
        Event.select [ Promise.await_evt p; Promise.await_evt q ])
  in
  let plain = Hand.start (fun () -> Promise.await p) in
  Promise.fill q ();
  (* The task hasn't run yet, so its waiter is still in the queue. *)
  waiting "both" p 2;
  int "one of them has the exception" 1 (Promise.fail_waiters p Boom);
  Hand.settle ();
  Hand.result task;
  raises "plain" Boom (fun () -> Hand.result plain)

(* --- Functions ------------------------------------------------------------- *)

let in_order () =
  traced [ "task 1"; "f"; "task 2"; "at once" ] @@ fun say ->
  let p = Promise.create () in
  (* The functions report in the order in which they are called. *)
  let watch name =
    Promise.on_resolve p (fun r ->
        yes name (r = Ok 7);
        say name)
  in
  watch "task 1";
  watch "f";
  watch "task 2";
  waiting "three" p 3;
  Promise.fill p 7;
  waiting "none" p 0;
  watch "at once"

let with_tasks () =
  let p = Promise.create () and called = ref 0 in
  let first = Hand.start (fun () -> Promise.await p) in
  Promise.on_resolve p (fun _ -> incr called);
  let last = Hand.start (fun () -> Promise.await p) in
  Promise.fill p 3;
  int "called" 1 !called;
  Hand.settle ();
  int "first" 3 (Hand.result first);
  int "last" 3 (Hand.result last)

let one_raises () =
  let p = Promise.create () and calls = ref 0 and later = ref 0 in
  Promise.on_resolve p (fun _ ->
      incr calls;
      culprit ());
  Promise.on_resolve p (fun _ -> incr later);
  let task = Hand.start (fun () -> Promise.await p) in
  raises_at "culprit" (fun () -> Promise.fill p 1);
  int "called once" 1 !calls;
  int "the next one too" 1 !later;
  Hand.settle ();
  int "and the task" 1 (Hand.result task);
  raises "resolved" Promise.Already_filled (fun () -> Promise.fill p 1);
  raises "at once" Boom (fun () -> Promise.on_resolve p (fun _ -> culprit ()))

let failure_has_its_backtrace () =
  let p : int Promise.t = Promise.create () and seen = ref false in
  Promise.on_resolve p (fun _ ->
      raises_at "culprit" (fun () -> Promise.await p);
      seen := true);
  fail_by_culprit p;
  yes "seen" !seen

let refused what f =
  match f () with
  | () -> Alcotest.failf "%s: it has waited" what
  | exception Invalid_argument text -> yes what (contains text "Promise")

(* A function must not wait in a task that resolves, in a loop that ends a task, in a
   thread, or when it is called at once. *)
let may_not_wait () =
  let never () = Promise.await (Promise.create ()) in
  let p = Promise.create () in
  Promise.on_resolve p (fun _ -> never ());
  refused "thread" (fun () -> Promise.fill p ());
  refused "at once" (fun () -> Promise.on_resolve p (fun _ -> never ()));
  let told = ref false in
  (match
     Concord_fifo.run (fun () ->
         let gate = Promise.create () in
         let p = Concord_fifo.fork_promise (fun () -> Promise.await gate) in
         Promise.on_resolve p (fun _ ->
             refused "the end of a task" never;
             told := true);
         Promise.fill gate ();
         Promise.await p)
   with
  | () -> ()
  | exception e -> raise e);
  yes "told" !told;
  (* Operations that need not wait are allowed. *)
  let p = Promise.create () and box = Mvar.create_empty () in
  Promise.on_resolve p (fun _ -> Mvar.put box "put");
  Promise.fill p ();
  yes "put" (Mvar.take box = "put")

let withdrawn () =
  let p = Promise.create () and called = ref [] in
  let watch n =
    Promise.on_resolve_cancellable p (fun _ -> called := n :: !called)
  in
  let a = watch 1 in
  let b = watch 2 in
  let c = watch 3 in
  yes "withdrawn" (b ());
  no "twice" (b ());
  waiting "two" p 2;
  Promise.fill p 0;
  yes "the others" (!called = [ 3; 1 ]);
  no "too late" (a ());
  no "too late" (c ())

let withdrawn_in_the_other () =
  let p = Promise.create () and withdraw = ref (fun () -> false) in
  let called = ref false and answer = ref false in
  Promise.on_resolve p (fun _ -> answer := !withdraw ());
  withdraw := Promise.on_resolve_cancellable p (fun _ -> called := true);
  Promise.fill p 0;
  yes "in time" !answer;
  no "not called" !called

let kept_no_longer () =
  let p : int Promise.t = Promise.create () in
  let before = words p in
  for _ = 1 to 1_000 do
    let big = Array.make 100 0 in
    let withdraw =
      Promise.on_resolve_cancellable p (fun _ -> ignore (big : int array))
    in
    yes "withdrawn" (withdraw ())
  done;
  yes "withdrawn functions are not kept" (words p < before + 500)

let in_a_handler () =
  let p = Promise.create () and mapped = ref 0 in
  Promise.on_resolve
    (Promise.map (( * ) 2) p)
    (fun r -> mapped := Result.get_ok r);
  let fill _ = Promise.fill p 21 in
  let previous = Sys.signal Sys.sigusr1 (Signal_handle fill) in
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  eventually "called" (fun () -> !mapped = 42);
  Sys.set_signal Sys.sigusr1 previous

let () =
  run "Functions of promises"
    [
      ( "results",
        [
          test "resolve" resolve;
          test "await_result" await_result;
          test "fail_waiters counts tasks that chose it" chose_another;
        ] );
      ( "functions",
        [
          test "in order" in_order;
          test "beside tasks" with_tasks;
          test "one raises" one_raises;
          test "await in one" failure_has_its_backtrace;
          test "they may not wait" may_not_wait;
          test "withdrawn" withdrawn;
          test "withdrawn by another one" withdrawn_in_the_other;
          test "kept no longer" kept_no_longer;
          test "in a signal handler" in_a_handler;
        ] );
    ]
