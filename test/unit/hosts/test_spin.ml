(* Whether a task spins, and how long. *)

open Concord_test_support
open Check
module Spin = Concord__core__Spin
module Domains = Concord__core__Domains

exception Boom

let never_ready () = false
let looks t = Spin.begin_turns t > 0

(* Counts the waits that pass without a spin. The next one has begun to spin, and the caller
   has to end that. *)
let rec skipped ?(n = 0) t =
  if n > 1_000 then Alcotest.fail "it no longer spins"
  else if looks t then n
  else skipped ~n:(n + 1) t

let in_vain t = Spin.end_turns t ~gained:false

(* --- While there is one domain ------------------------------------------------ *)

let alone () =
  let t = Spin.create () in
  no "a thread" (Spin.until t (fun () -> Alcotest.fail "it spins"));
  no "a task" (looks t)

(* --- Learning ----------------------------------------------------------------- *)

let learns () =
  let t = Spin.create () in
  let look _ =
    let n = skipped t in
    in_vain t;
    n
  in
  Alcotest.(check (list int))
    "how many waits it skips"
    [ 0; 1; 3; 7; 15; 31; 63; 127; 255; 511; 511 ]
    (List.init 11 look)

(* A success now and then must not bring back many unsuccessful spins. Several successes in
   a row must. *)
let forgets () =
  let t = Spin.create () in
  let gain () =
    int "it spins at once" 0 (skipped t);
    Spin.end_turns t ~gained:true
  in
  for _ = 1 to 10 do
    ignore (skipped t : int);
    in_vain t
  done;
  ignore (skipped t : int);
  Spin.end_turns t ~gained:true;
  int "after a success" 0 (skipped t);
  in_vain t;
  (* The level was 9. The success halved it, and the failure added one, which makes 5 and
     2^5 - 1 skipped waits. *)
  int "after a success and a failure" 31 (skipped t);
  Spin.end_turns t ~gained:true;
  gain ();
  gain ();
  int "after successes" 0 (skipped t);
  in_vain t;
  int "after successes and a failure" 1 (skipped t)

let threads_learn () =
  let t = Spin.create () in
  yes "at once" (Spin.until t (fun () -> true));
  let calls = ref 0 in
  let ready () =
    incr calls;
    false
  in
  no "never" (Spin.until t ready);
  yes "many times, but not forever" (!calls > 100 && !calls < 10_000);
  no "skipped" (Spin.until t (fun () -> Alcotest.fail "it spins"));
  yes "spins again" (Spin.until t (fun () -> true))

(* The thread was resumed, but not because it has spun. *)
let no_gain () =
  let t = Spin.create () in
  let until is_gain =
    yes "ready"
      (Spin.until_resumed ~is_gain:(fun () -> is_gain) t (fun () -> true))
  in
  until false;
  int "as after a spin in vain" 1 (skipped t);
  in_vain t;
  int "as after two" 3 (skipped t);
  Spin.leave_turns t;
  until true;
  int "the next wait spins" 0 (skipped t);
  in_vain t;
  (* The level was 2. The gain halved it, and the failure added one. *)
  int "the gain counted" 3 (skipped t);
  Spin.leave_turns t

(* If threads of one domain resume each other, they learn not to spin. *)
let siblings_learn () =
  let ping = Concord.Mvar.create_empty ()
  and pong = Concord.Mvar.create_empty () in
  let echo () =
    for _ = 1 to 2_000 do
      Concord.Mvar.put pong (Concord.Mvar.take ping)
    done
  in
  beside echo (fun () ->
      for i = 1 to 2_000 do
        Concord.Mvar.put ping i;
        int "the echo" i (Concord.Mvar.take pong)
      done);
  let spins = Domain.DLS.get Concord__core__Park.spins in
  ignore (skipped spins : int);
  in_vain spins;
  int "the most that it skips" 511 (skipped spins);
  Spin.leave_turns spins

(* A task that resumes itself has not spun in vain. *)
let itself () =
  let spins = Domain.DLS.get Concord__core__Park.spins in
  (* The next wait spins, and a failure makes the level at least 1. *)
  ignore (skipped spins : int);
  Spin.end_turns spins ~gained:true;
  int "its value" 1
    (Concord.Tools.Suspend.suspend (fun resumer ->
         ignore (resumer (Ok 1) : bool);
         None));
  int "the next wait spins" 0 (skipped spins);
  Spin.leave_turns spins

(* Other threads of the domain run while one spins. *)
let yields () =
  let t = Spin.create () and turns = Atomic.make 0 in
  let stop = Atomic.make false in
  let other () =
    while not (Atomic.get stop) do
      Atomic.incr turns;
      Thread.yield ()
    done
  in
  beside other @@ fun () ->
  eventually "the other thread continues" (fun () -> Atomic.get turns > 0);
  let before = Atomic.get turns in
  no "never" (Spin.until t never_ready);
  let meanwhile = Atomic.get turns - before in
  Atomic.set stop true;
  (* The spinning thread yields at each 16th look. If it yielded by the clock alone, the
     other thread would have one turn at most. *)
  yes "it had turns" (meanwhile > 10)

let prepares () =
  let t = Spin.create () and prepared = ref 0 in
  let prepare () = incr prepared in
  let ready () = !prepared > 0 in
  yes "before the first look" (Spin.until ~prepare t ready);
  int "once" 1 !prepared;
  no "in vain" (Spin.until ~prepare t never_ready);
  no "it doesn't spin" (Spin.until ~prepare t ready);
  int "not then" 2 !prepared

(* Models limit the number of looks. *)
let limited () =
  let t = Spin.create () and calls = ref 0 in
  let ready () =
    incr calls;
    false
  in
  for _ = 1 to 5 do
    ignore (skipped t : int);
    in_vain t
  done;
  Spin.limit t 3;
  no "at once, in vain" (Spin.until t ready);
  int "three times, and once more at the end" 4 !calls

let leaves () =
  let t = Spin.create () in
  for _ = 1 to 3 do
    int "nothing is learned" 0 (skipped t);
    Spin.leave_turns t
  done

(* --- Other tasks that sleep ---------------------------------------------------- *)

(* A new waiter is behind the sleeping ones in their structure's queue. If it spun, it would
   run before them. *)
let others_sleep () =
  let t = Spin.create () in
  let ended x f = try f () with Boom when x -> () in
  let one raises_ =
    ended raises_ @@ fun () ->
    Spin.sleeping t (fun () ->
        no "another one sleeps" (looks t);
        if raises_ then raise Boom)
  in
  one false;
  one true;
  int "none sleeps" 0 (skipped t)

(* A task that has slept during all of the recent waits no longer counts. At first, some of
   those waits came before it slept. *)
let others_stay () =
  let t = Spin.create () in
  Spin.sleeping t (fun () ->
      let n = skipped t in
      yes "not at first" (n >= 64);
      Spin.leave_turns t;
      int "then it does not count" 0 (skipped t);
      Spin.leave_turns t;
      Spin.sleeping t (fun () -> no "the new one does" (looks t)))

(* --- Without turns -------------------------------------------------------------- *)

let at_once () =
  let t = Spin.create () and calls = ref 0 in
  let after n () =
    incr calls;
    !calls > n
  in
  yes "it came" (Spin.at_once t (after 5));
  int "no further look" 6 !calls;
  calls := 0;
  no "in vain" (Spin.at_once t (after 1_000));
  int "so often" 33 !calls;
  int "it learns" 1 (skipped t);
  Spin.leave_turns t;
  raises "the condition raises" Boom (fun () ->
      Spin.at_once t (fun () -> raise Boom));
  int "that teaches nothing" 0 (skipped t)

(* Other tasks of the loop must have a turn now and then. *)
let not_for_ever () =
  let t = Spin.create () in
  let rec in_a_row n =
    if n > 1_000 then Alcotest.fail "forever"
    else if Spin.at_once t (fun () -> true) then in_a_row (n + 1)
    else n
  in
  int "in a row" 32 (in_a_row 0);
  int "again" 32 (in_a_row 0);
  for _ = 1 to 20 do
    yes "it came" (Spin.at_once t (fun () -> true))
  done;
  no "in vain" (Spin.at_once t never_ready);
  int "skipped" 1 (skipped t);
  Spin.leave_turns t;
  int "and they had one" 32 (in_a_row 0)

(* --- One at a time -------------------------------------------------------------- *)

let one_at_a_time () =
  let t = Spin.create () in
  let within () =
    no "a thread" (Spin.until t (fun () -> Alcotest.fail "it spins"));
    no "a task" (looks t);
    true
  in
  yes "a thread spins" (Spin.until t within);
  yes "a task spins" (looks t);
  ignore (within () : bool);
  in_vain t;
  (* Waits that weren't allowed to spin don't count as skipped. *)
  int "skipped" 1 (skipped t)

let raises_out_of_it () =
  let t = Spin.create () in
  raises "until" Boom (fun () -> Spin.until t (fun () -> raise Boom));
  int "as after an unsuccessful spin" 1 (skipped t)

let never_looks t =
  for _ = 1 to 100 do
    no "a thread" (Spin.until t (fun () -> Alcotest.fail "it spins"));
    no "a task" (looks t)
  done

let never () =
  let t = Spin.create () in
  Spin.never t;
  never_looks t

(* [never] also holds for a task that spins at that moment. *)
let never_again () =
  let t = Spin.create () in
  yes "it spins" (looks t);
  Spin.never t;
  in_vain t;
  never_looks t

(* --- Paces ----------------------------------------------------------------------- *)

(* Returns how often [f] is called, if it succeeds at call number [at]. *)
let calls pace at =
  let t = Spin.create () and calls = ref 0 in
  let f x y z =
    Alcotest.(check (list string)) "its arguments" [ "x"; "y"; "z" ] [ x; y; z ];
    incr calls;
    if !calls = at then Some at else None
  in
  let found = Spin.attempt t pace f "x" "y" "z" in
  Alcotest.(check (option int))
    "its result"
    (if !calls = at then Some at else None)
    found;
  !calls

let paces () =
  let check name (pace : Spin.pace) =
    int (name ^ ", at once") 1 (calls pace 1);
    int (name ^ ", at the end") (pace.tries + 1) (calls pace (pace.tries + 1));
    int (name ^ ", in vain") (pace.tries + 1) (calls pace max_int)
  in
  check "soon" Spin.soon;
  check "mutex" Spin.mutex;
  check "bulk" Spin.bulk

(* [f] is called again only when the atomic has changed. *)
let at_changes () =
  let t = Spin.create () and calls = ref 0 and word = Atomic.make 0 in
  let f changes found () =
    incr calls;
    if !calls <= changes then Atomic.incr word;
    if !calls = found then Some !calls else None
  in
  let check changes found result =
    calls := 0;
    Alcotest.(check (option int))
      "its result" result
      (Spin.attempt_soon t word f changes found ());
    !calls
  in
  int "calls" 5 (check 4 5 (Some 5));
  int "calls in vain" 3 (check 2 5 None)

(* While workers fill the cores, a spin is short. It still gains what comes at once. *)
let leaves_cores_to_workers () =
  let looks () =
    let t = Spin.create () and looks = ref 0 in
    let gained =
      Spin.until t (fun () ->
          incr looks;
          false)
    in
    no "in vain" gained;
    let turns = Spin.begin_turns (Spin.create ()) in
    (!looks, turns)
  in
  let cores = Domain.recommended_domain_count () in
  let before = Domains.workers () in
  for _ = before + 2 to cores do
    Domains.one_more_worker ()
  done;
  Alcotest.(check (pair int int)) "a core is free" (2001, 400) (looks ());
  Domains.one_more_worker ();
  Alcotest.(check (pair int int)) "no core is free" (17, 16) (looks ());
  yes "what comes at once" (Spin.until (Spin.create ()) (fun () -> true));
  Domains.one_less_worker ();
  Alcotest.(check (pair int int)) "a core is free again" (2001, 400) (looks ());
  while Domains.workers () > before do
    Domains.one_less_worker ()
  done

let paces_alone () = int "calls" 0 (calls Spin.soon 1)

let () =
  let with_other_cores tests =
    if Domain.recommended_domain_count () > 1 then tests
    else
      [
        test "one core: no task spins" (fun () -> never_looks (Spin.create ()));
      ]
  in
  run "Spin"
    [
      (* These come first, because no domain may have been spawned. *)
      ( "one domain",
        [ test "no task spins" alone; test "nor tries" paces_alone ] );
      ( "two domains",
        test "there is another one" (fun () -> in_domain ignore)
        :: test "never" never
        :: with_other_cores
             [
               test "skips waits after unsuccessful spins" learns;
               test "successes make it forget" forgets;
               test "threads do so too" threads_learn;
               test "a spin may be in vain although the thread is resumed"
                 no_gain;
               test "threads that resume each other" siblings_learn;
               test "a thread that resumes itself" itself;
               test "the domain's other threads have turns" yields;
               test "it prepares only if it spins" prepares;
               test "so often at most" limited;
               test "leaving teaches nothing" leaves;
               test "not while earlier waiters sleep" others_sleep;
               test "except at paces that always spin" others_stay;
               test "at once" at_once;
               test "at once, but not forever" not_for_ever;
               test "one spins at a time" one_at_a_time;
               test "an exception ends the spin" raises_out_of_it;
               test "never again" never_again;
               test "so many attempts" paces;
               test "attempts at changes" at_changes;
               test "workers fill the cores" leaves_cores_to_workers;
             ] );
    ]
