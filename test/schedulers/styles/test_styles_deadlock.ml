(* When a deadlock is reported, and when it isn't. Any other thread could wake one of the set.
   So this program has only the threads that a case starts, and its watchdog is an alarm. *)

open Concord
open Concord.Tools
open Concord_styles
open Styles_cases

let seconds = 50
let int what = Alcotest.(check int) what
let yes what actual = Alcotest.(check bool) what true actual

let test name f =
  Alcotest.test_case name `Quick @@ fun () ->
  ignore (Unix.alarm seconds : int);
  f ();
  ignore (Unix.alarm 0 : int)

let deadlock n f =
  match f () with
  | () -> Alcotest.fail "no deadlock was reported"
  | exception Deadlock left -> int "left" n left

(* The thread or domain that ended may still be visible for a moment. *)
let soon_deadlock n f =
  let before = Unix.gettimeofday () in
  deadlock n f;
  yes "soon" (Unix.gettimeofday () -. before < 10.)

module Make (S : Style.S) = struct
  open S

  let run fs =
    List.iter spawn fs;
    start ()

  let waits m () =
    let* () = take m in
    return ()

  let box = Mvar.create_empty

  let clean () =
    let ran = ref false in
    run
      [
        (fun () ->
          let* () = yield () in
          ran := true;
          return ());
      ];
    yes "the next set" !ran

  let one () =
    let m = box () in
    deadlock 1 (fun () -> run [ waits m ]);
    int "waiters" 0 (Mvar.waiters m);
    Mvar.put m ();
    yes "not lost" (Mvar.try_take m = Some ());
    clean ()

  (* The exception contains how many threads are left. *)
  let several () =
    let m = box () and q = Mailbox.create () and full = Mvar.create () in
    let f () =
      run
        [
          waits m;
          return;
          (fun () -> take_fifo q);
          (fun () -> put full ());
          (fun () ->
            let* () = yield () in
            waits m ());
          (fun () -> direct (fun () -> Mvar.take m));
          (fun () ->
            sync (Event.choose [ Mvar.take_evt m; Mailbox.take_evt q ]));
          halt;
        ]
    in
    deadlock 6 f;
    List.iter (int "waiters" 0)
      [ Mvar.waiters m; Mailbox.waiters q; Mvar.waiters full ];
    clean ()

  (* Two threads wait for each other. *)
  let circle () =
    let a = box () and b = box () in
    let thread a b () =
      let* () = take a in
      put b ()
    in
    deadlock 2 (fun () -> run [ thread a b; thread b a ])

  let after_work () =
    let a = box () and b = box () in
    let rec serve n () =
      if n = 0 then take b
      else
        let* () = take a in
        let* () = put b () in
        serve (n - 1) ()
    and use n () =
      if n = 0 then take b
      else
        let* () = put a () in
        let* () = take b in
        use (n - 1) ()
    in
    deadlock 2 (fun () -> run [ serve 100; use 100 ])

  let again () =
    for _ = 1 to 5 do
      deadlock 1 (fun () -> run [ waits (box ()) ])
    done

  (* While a timeout is pending, a thread may still be woken. Afterwards none can be. *)
  let after_timeouts () =
    let m = box () and fired = ref 0 in
    let sleeps seconds () =
      let* () = sync (Event.timeout seconds) in
      incr fired;
      return ()
    in
    soon_deadlock 2 (fun () ->
        run [ waits m; sleeps 0.001; waits m; sleeps 0.03 ]);
    int "fired" 2 !fired

  let not_while_timeouts () =
    let m = box () in
    run
      [
        waits m;
        (fun () ->
          let* () = sync (Event.timeout 0.02) in
          put m ());
      ]

  let woken_by other () =
    let m = box () in
    let join =
      other (fun () ->
          while Mvar.waiters m < 1 do
            Unix.sleepf 0.001
          done;
          (* By then, [start] sleeps, and has checked for a deadlock. *)
          Unix.sleepf 0.01;
          Mvar.put m ())
    in
    run [ waits m ];
    join ()

  (* The other thread could have woken one, but it has ended. *)
  let others_end other () =
    let m = box () in
    let join =
      other (fun () ->
          while Mvar.waiters m < 1 do
            Unix.sleepf 0.001
          done;
          Unix.sleepf 0.01)
    in
    soon_deadlock 1 (fun () -> run [ waits m ]);
    join ()

  (* The last thread that could resume one does so. *)
  let last_moment other () =
    for _ = 1 to 200 do
      let m = box () in
      let join =
        other (fun () ->
            while Mvar.waiters m < 1 do
              Thread.yield ()
            done;
            Mvar.put m ())
      in
      run [ waits m ];
      join ()
    done

  (* The loop asks the handler around it whether anything could still happen. This handler puts
     a value and answers that it isn't a host, so a thread is resumed during the check. *)
  let resumed_while_it_looks () =
    let m = box () in
    let open Effect.Deep in
    let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option
        =
      match e with
      | Suspend.Suspend _ when Mvar.waiters m > 0 ->
          Some
            (fun k ->
              Mvar.put m ();
              discontinue k (Effect.Unhandled e))
      | _ -> None
    in
    try_with (fun () -> run [ waits m ]) () { effc }

  let timeouts_at_the_last_moment () =
    for _ = 1 to 300 do
      run [ (fun () -> sync (Event.timeout 0.0003)) ]
    done

  (* A set runs in a thread of another set. The outer set reports the deadlock, and its thread
     ends the inner set. *)
  let in_a_thread_of (name, (module D : Direct)) =
    ( "in a thread of " ^ name,
      fun () ->
        let m = box () and seen = ref None in
        D.spawn (fun () ->
            spawn (waits m);
            try start ()
            with e ->
              seen := Some e;
              raise e);
        deadlock 1 D.start;
        yes "the inner one has ended" (!seen <> None);
        int "waiters" 0 (Mvar.waiters m);
        clean () )

  let protected () =
    let m = box () in
    deadlock 1 (fun () ->
        run
          [
            (fun () ->
              direct (fun () -> Suspend.protect (fun () -> Mvar.take m)));
          ]);
    int "waiters" 0 (Mvar.waiters m);
    (* The same after another end. *)
    run
      [
        (fun () -> direct (fun () -> Suspend.protect (fun () -> Mvar.take m)));
        (fun () ->
          let* () = yield () in
          stop ());
      ];
    int "waiters" 0 (Mvar.waiters m);
    clean ()

  let in_a_host () =
    let woken = ref false in
    Concord_fifo.run (fun () ->
        let m = box () in
        let fiber =
          Concord_fifo.fork (fun () ->
              while Mvar.waiters m < 1 do
                Concord.Tasks.yield ()
              done;
              for _ = 1 to 10 do
                Concord.Tasks.yield ()
              done;
              Mvar.put m ())
        in
        run [ waits m ];
        woken := true;
        Concord_fifo.join fiber);
    yes "woken" !woken

  let thread f =
    let t = Thread.create f () in
    fun () -> Thread.join t

  let domain f =
    let d = Domain.spawn f in
    fun () -> Domain.join d

  let cases =
    [
      ("one", one);
      ("several", several);
      ("in a circle", circle);
      ("after work", after_work);
      ("again and again", again);
      ("protected", protected);
      ("not in a host", in_a_host);
      ("resumed while it checks", resumed_while_it_looks);
      ("not while a timeout is pending", not_while_timeouts);
      ("after timeouts", after_timeouts);
      ("timeouts at the last moment", timeouts_at_the_last_moment);
      ("woken by a thread", woken_by thread);
      ("a thread at the last moment", last_moment thread);
    ]
    (* The outer set sees the system threads of the inner one, and doesn't know that they wait. *)
    @
    if not is_light then []
    else
      List.map in_a_thread_of
        (List.filter (fun (outer, _) -> outer <> name) Style.direct)

  let with_domains =
    [
      ("woken by a domain", woken_by domain);
      ("a domain at the last moment", last_moment domain);
    ]

  (* These take a second each, because the loop sleeps that long before it checks again. *)
  let slow = [ ("a thread ends", others_end thread) ]
  let slow_with_domains = [ ("a domain ends", others_end domain) ]
  let tests = List.map (fun (name, case) -> test name case)
end

(* The styles whose slow cases run. *)
let drawn = Concord_test_support.Race.drawn Style.all

let suites which =
  List.map
    (fun style ->
      let (module S : Style.S) = style in
      let module Cases = Make (S) in
      let tests cases slow () =
        Cases.tests (if List.memq style drawn then cases @ slow else cases)
      in
      which
        (S.name, tests Cases.cases Cases.slow)
        ( S.name ^ ", with domains",
          tests Cases.with_domains Cases.slow_with_domains ))
    Style.all

(* --- Interrupted waits ----------------------------------------------------------- *)

(* A handler raises while a thread begins to wait, or while another one resumes it. Afterwards
   both wait and nothing can wake them. If the number of waiting threads were wrong, that would
   be reported too early, or never. *)
let interrupted () =
  let open Concord_test_support in
  let open Concord_styles.Threads in
  Interrupting.at_every_allocation ~within:"Concord_styles__Threads.suspend"
  @@ fun () ->
  let m = Mvar.create_empty () and never = Mvar.create_empty () in
  let interruptible armed f =
    armed := true;
    (try f () with Exit | Fun.Finally_raised Exit -> ());
    armed := false
  in
  let goes_on = ref false and waiting = ref 0 and left = ref 0 in
  let wait_forever () =
    Thread.yield ();
    incr waiting;
    take_mvar never
  in
  let f armed =
    spawn (fun () ->
        interruptible armed (fun () -> take_mvar m);
        goes_on := true;
        wait_forever ());
    spawn (fun () ->
        while not (!goes_on || Mvar.waiters m > 0) do
          Thread.yield ()
        done;
        interruptible armed (fun () -> put_mvar m ());
        ignore (Mvar.try_put m () : bool);
        wait_forever ());
    try start () with Deadlock n -> left := Int.min n !waiting
  in
  (f, fun what -> int what 2 !left)

(* --- Promises ------------------------------------------------------------------ *)

let claims () =
  let open Concord_styles.Promise in
  int "ready" 1 (claim (ready 1));
  deadlock 1 (fun () -> claim (blocked ()));
  let p = blocked () in
  fulfill p 2;
  int "fulfilled" 2 (claim p);
  let p = blocked () in
  let got = ref 0 in
  Concord_fifo.run (fun () ->
      let fiber = Concord_fifo.fork (fun () -> got := claim p) in
      spawn (fun () ->
          let* () = yield () in
          fulfill p 3;
          return ());
      start ();
      Concord_fifo.join fiber);
  int "by a thread" 3 !got

let claimed_in_a_thread () =
  let open Concord_styles.Promise in
  spawn (fun () -> claim (blocked ()));
  match start () with
  | () -> Alcotest.fail "it was not refused"
  | exception Invalid_argument _ -> ()

let connected () =
  let open Concord_styles.Promise in
  let a = blocked () and b = blocked () in
  let said = ref [] in
  let on t s =
    ignore
      (Concord_styles.Promise.( >>= ) t (fun v ->
           said := (s ^ v) :: !said;
           return ()))
  in
  on a "a1";
  on b "b1";
  on a "a2";
  connect a b;
  on b "b2";
  fulfill b "!";
  Alcotest.(check (list string))
    "all, in order"
    [ "a1!"; "a2!"; "b1!"; "b2!" ]
    (List.rev !said);
  Alcotest.(check string) "the same promise" "!" (claim a);
  (match fulfill a "?" with
  | () -> Alcotest.fail "twice"
  | exception Invalid_argument _ -> ());
  let c = blocked () in
  connect c (ready "c");
  Alcotest.(check string) "ready" "c" (claim c);
  (match connect c (ready "d") with
  | () -> Alcotest.fail "connected to a ready one"
  | exception Invalid_argument _ -> ());
  let d = blocked () in
  connect d d;
  fulfill d "d"

let promises =
  ( "promises",
    [
      test "claim" claims;
      test "claim in a thread" claimed_in_a_thread;
      test "connect" connected;
    ] )

(* Cases with domains come last, because each domain adds a thread that stays. *)
let () =
  Concord_test_proc.program "deadlocks of styles" @@ fun () ->
  let force (name, tests) = (name, tests ()) in
  Alcotest.run "Deadlocks"
    (List.map force
       (( "interrupted waits",
          fun () ->
            Concord_test_support.Interrupting.only
              (test "a thread of Threads" interrupted) )
        :: (fst promises, fun () -> snd promises)
        :: suites (fun first _ -> first)
       @ suites (fun _ last -> last)))
