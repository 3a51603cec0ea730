(* Tasks that are cancelled in [Suspend.protect]. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Cancelled

(* A thread resumes the task while the cancellation is on its way. *)
let protected () =
  In_miou.run @@ fun () ->
  let p = Promise.create () and got = ref 0 and refused = ref false in
  let cancelling = Atomic.make false in
  let filler =
    thread (fun () ->
        eventually "it is being cancelled" (fun () -> Atomic.get cancelling);
        Thread.delay 0.02;
        Promise.fill p 1)
  in
  let waits () =
    Promise.waiters p = 1
    && begin
      Atomic.set cancelling true;
      true
    end
  in
  cancelled ~waits (fun () ->
      Suspend.protect (fun () ->
          got := Suspend.protect (fun () -> Promise.await p);
          int "a further one" 2
            (Suspend.suspend (fun r ->
                 yes "resumed" (r (Ok 2));
                 None)));
      raises_cancelled never;
      refused := true);
  filler ();
  int "it waited to the end" 1 !got;
  yes "then it was cancelled" !refused

(* The task that would resume it belongs to the same domain. *)
let protected_too_long () =
  In_miou.run_on 0 @@ fun () ->
  let p = Promise.create () and told = ref false in
  let waits () = Promise.waiters p = 1 in
  let before = Unix.gettimeofday () in
  cancelled ~waits (fun () ->
      raises_cancelled (fun () ->
          Suspend.protect (fun () -> (Promise.await p : unit)));
      told := true);
  yes "told" !told;
  yes "after a second" (Unix.gettimeofday () -. before > 0.9);
  int "withdrawn" 0 (Promise.waiters p)

let in_shield () =
  In_miou.run @@ fun () ->
  let inside = ref false and left = ref false in
  cancelled
    ~waits:(fun () -> !inside)
    (fun () ->
      try
        Suspend.protect (fun () ->
            inside := true;
            asleep ())
      with e ->
        left := true;
        raise e);
  yes "left" !left;
  (* The next task has its own count. *)
  let p : unit Promise.t = Promise.create () and told = ref false in
  cancelled
    ~waits:(fun () -> Promise.waiters p = 1)
    (fun () ->
      raises_cancelled (fun () -> Promise.await p);
      raises_cancelled (fun () -> Suspend.suspend (fun _ -> Some ()));
      told := true);
  yes "told, twice" !told;
  int "withdrawn" 0 (Promise.waiters p)

(* A finaliser waits while an effect passes from one shield to the next. The finaliser isn't in
   any task, and doesn't change the count. *)
let interrupted () =
  In_miou.run @@ fun () ->
  let finalised = ref 0 and is_inside = ref false in
  let finaliser (_ : unit ref) =
    incr finalised;
    Suspend.suspend (fun _ -> Some ())
  in
  let[@inline never] drop () = Gc.finalise finaliser (ref ()) in
  let interrupting f =
    let effc (type a) (_ : a Effect.t) :
        ((a, _) Effect.Deep.continuation -> _) option =
      if !is_inside then begin
        drop ();
        Gc.full_major ()
      end;
      None
    in
    Effect.Deep.try_with f () { effc }
  in
  let p = Promise.create () and got = ref 0 in
  let cancelling = Atomic.make false in
  let filler =
    thread (fun () ->
        eventually "it is being cancelled" (fun () -> Atomic.get cancelling);
        Promise.fill p 1)
  in
  let waits () =
    Promise.waiters p = 1
    && begin
      Atomic.set cancelling true;
      true
    end
  in
  cancelled ~waits (fun () ->
      interrupting (fun () ->
          Suspend.protect (fun () ->
              is_inside := true;
              let v = Promise.await p in
              got := v + Suspend.suspend (fun _ -> Some 1))));
  filler ();
  yes "finalised" (!finalised > 0);
  int "it waited to the end" 2 !got

let suites =
  [
    ( "in protect",
      [
        test "keeps waiting" protected;
        test "waits for a second at most" protected_too_long;
        test "leaves its shield" in_shield;
        test "is interrupted" interrupted;
      ] );
  ]
