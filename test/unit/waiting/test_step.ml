(* The driver of steps follows each chain to its end, whatever raises meanwhile. *)

module Step = Concord__core__Step
module Waiter = Concord__core__Waiter
module Waiters = Concord__core__Waiters
open Concord_test_support
open Check

let string what = Alcotest.(check string) what

type way = {
  perform : 's 'x 'r. 's Atomic.t -> ('x -> 's -> ('s, 'r) Step.t) -> 'x -> 'r;
}

let ways =
  [
    ( "attempt",
      { perform = (fun word step x -> Option.get (Step.attempt word step x)) }
    );
    ("perform", { perform = (fun word step x -> Step.perform word step x) });
    ("surely", { perform = (fun word step x -> Step.surely word step x) });
  ]

let each check () = List.iter (fun (name, way) -> check name way) ways
let accepts = Waiter.make_live (fun _ -> true)
let refuses () = Waiter.make_live (fun _ -> false)
let queue waiters = List.fold_left Waiters.push Waiters.empty waiters

(* A step of another atomic, which is a part of a chain. *)
let incremented n : _ Step.t = Return (n + 1, n)

(* --- Waiters --------------------------------------------------------------- *)

(* The waiter's task will raise and then withdraw the waiter. It is no longer in a queue, so
   it has to be marked as withdrawn before. *)
let withdrawn_before_it_raises name { perform } =
  let check what outcome expected =
    let w = Waiter.make () and seen = ref None in
    w.resumer <-
      (fun _ ->
        seen := Some (Waiter.is_live w);
        true);
    let waiters = queue [ w ] in
    let step () waiters : _ Step.t =
      Hand_over
        {
          state = Waiters.tail waiters;
          waiter = Waiters.head waiters;
          outcome;
          accepted = Done ();
          refused = Again;
        }
    in
    perform (Atomic.make waiters) step ();
    yes (name ^ ": " ^ what) (!seen = Some expected)
  in
  check "a value" (Ok ()) true;
  check "an exception" (Error Exit) false

(* --- Again -------------------------------------------------------------------- *)

(* Counts up to ten. After each step except the last one, [next] follows. *)
let to_ten next () n : _ Step.t =
  if n = 10 then Return (n, "ten") else Become (n + 1, next ())

let handing_over waiter ~accepted ~refused () n : _ Step.t =
  if n = 10 then Return (n, "ten")
  else
    Hand_over
      { state = n + 1; waiter = waiter (); outcome = Ok (); accepted; refused }

let never_called what _ = Alcotest.failf "%s was called" what

let again name { perform } =
  let check position step =
    let what = name ^ ": " ^ position and word = Atomic.make 0 in
    string what "ten" (perform word step ());
    int what 10 (Atomic.get word)
  in
  check "Become" (to_ten (fun () -> Again));
  let resumed = ref 0 in
  let counted =
    Waiter.make_live (fun _ ->
        incr resumed;
        true)
  in
  check "resume_all"
    (to_ten (fun () ->
         Step.resume_all (queue [ counted; counted ]) (Ok ()) Again));
  int "resumed" 20 !resumed;
  check "Resume" (to_ten (fun () -> Resume (accepts, Ok (), fun _ -> Again)));
  let other = Atomic.make 0 in
  check "At" (to_ten (fun () -> At (other, incremented, fun _ -> Again)));
  int "the other word" 10 (Atomic.get other);
  let accepting () = accepts in
  let wrong : _ Step.next = Done "the other answer" in
  check "accepted" (handing_over accepting ~accepted:Again ~refused:wrong);
  check "refused" (handing_over refuses ~accepted:wrong ~refused:Again);
  let then_never : _ Step.next = Then (never_called "the other answer") in
  check "accepted, or another step"
    (handing_over accepting ~accepted:Again ~refused:then_never);
  check "refused, or another step"
    (handing_over refuses ~accepted:then_never ~refused:Again);
  check "accepted or refused"
    (handing_over accepting ~accepted:Again ~refused:Again);
  check "refused or accepted"
    (handing_over refuses ~accepted:Again ~refused:Again)

(* [Again] repeats the step that led there, not the first one. *)
let again_of_another name { perform } =
  let calls = ref 0 in
  let check position next =
    let word = Atomic.make 0 in
    let first () n : _ Step.t =
      incr calls;
      Become (n + 1, next)
    in
    calls := 0;
    string (name ^ ": " ^ position) "ten" (perform word first ());
    int "of the first step" 1 !calls;
    int "the state" 10 (Atomic.get word)
  in
  let rest next = to_ten next () in
  check "Then" (Then (rest (fun () -> Again)));
  let other = Atomic.make 0 in
  check "At in Then"
    (Then (rest (fun () -> At (other, incremented, fun _ -> Again))));
  check "Then after At"
    (At (other, incremented, fun _ -> Then (rest (fun () -> Again))));
  Atomic.set other 0;
  check "in At"
    (At (other, rest (fun () -> Again), fun _ -> Then (rest (fun () -> Again))));
  int "the other word" 10 (Atomic.get other)

(* A waiter whose resumer raises has accepted. *)
let answers name { perform } =
  let step waiter n : _ Step.t =
    Hand_over
      {
        state = n + 1;
        waiter;
        outcome = Ok ();
        accepted = Done "accepted";
        refused = Then (fun n -> Return (n + 1, "refused"));
      }
  in
  let check ~steps what f =
    let word = Atomic.make 0 in
    f (fun waiter -> perform word step waiter);
    int (name ^ ": " ^ what) steps (Atomic.get word)
  in
  check "accepts" ~steps:1 (fun offer -> string name "accepted" (offer accepts));
  check "refuses" ~steps:2 (fun offer ->
      string name "refused" (offer (refuses ())));
  check "raises" ~steps:1 (fun offer ->
      let raising = Waiter.make_live (fun _ -> raise Exit) in
      raises name Exit (fun () -> offer raising))

(* Each waiter is resumed once, and the state doesn't change. *)
let resumes name { perform } =
  let step waiters n : _ Step.t =
    let rec ask answers : _ -> _ Step.next = function
      | [] -> Then (fun n -> Return (n + 1, String.concat " " answers))
      | w :: others ->
          let answered accepted =
            let answer = if accepted then "yes" else "no" in
            ask (answer :: answers) others
          in
          Resume (w, Ok "v", answered)
    in
    Become (n, ask [] waiters)
  in
  let check what expected f =
    let word = Atomic.make 0 and asked = ref [] in
    let waiter i answer =
      Waiter.make_live (fun outcome ->
          yes "its outcome" (outcome = Ok "v");
          int "the state" 0 (Atomic.get word);
          asked := i :: !asked;
          answer ())
    in
    f (fun answers -> perform word step (List.mapi waiter answers));
    Alcotest.(check (list int)) (name ^ ": " ^ what) expected (List.rev !asked);
    int "what follows" 1 (Atomic.get word)
  in
  let accept () = true and refuse () = false and strike () = raise Exit in
  check "the answers" [ 0; 1; 2 ] (fun ask ->
      string name "yes no yes" (ask [ accept; refuse; accept ]));
  check "one raises" [ 0; 1; 2 ] (fun ask ->
      raises name Exit (fun () -> ask [ accept; strike; refuse ]))

(* --- Exceptions ----------------------------------------------------------------- *)

exception Signal of int

(* Raises as signal handlers would. From call [first] on, [times] calls raise, each with a
   different exception. *)
let interrupted ?(first = 1) ?(times = 100) f =
  let calls = ref 0 in
  fun x ->
    incr calls;
    let i = !calls - first + 1 in
    if 1 <= i && i <= times then raise (Signal i);
    f x

let first_is_raised what f = raises what (Signal 1) f

let in_first_step () =
  let step =
    let return = interrupted (fun n -> Step.Return (n + 1, ())) in
    fun () n -> return n
  in
  let word = Atomic.make 0 in
  first_is_raised "surely" (fun () -> Step.surely word step ());
  int "is done" 1 (Atomic.get word);
  let nothing_done name perform =
    let step =
      let return = interrupted (fun n -> Step.Return (n + 1, ())) in
      fun () n -> return n
    in
    let word = Atomic.make 0 in
    first_is_raised name (fun () -> perform word step);
    int "nothing is done" 0 (Atomic.get word)
  in
  nothing_done "attempt" (fun word step ->
      ignore (Step.attempt word step () : unit option));
  nothing_done "perform" (fun word step -> Step.perform word step ())

let in_later_step name { perform } =
  let other = Atomic.make 0 in
  let check position ~steps step =
    let word = Atomic.make 0 in
    let what = name ^ ", " ^ position in
    Atomic.set other 0;
    first_is_raised what (fun () -> perform word step ());
    int what steps (Atomic.get word);
    int
      (what ^ ": the other word")
      (if String.starts_with ~prefix:"At" position then 1 else 0)
      (Atomic.get other)
  in
  let becomes next () n : _ Step.t = Become (n + 1, next ()) in
  let last n : _ Step.t = Return (n + 1, ()) in
  check "Then" ~steps:2 (becomes (fun () -> Then (interrupted last)));
  check "Again" ~steps:10
    (let step = interrupted ~first:3 (to_ten (fun () -> Again) ()) in
     fun () n ->
       match step n with
       | Return (n, _) -> Return (n, ())
       | Become (n, _) -> Become (n, Again)
       | _ -> assert false);
  check "At, its step" ~steps:2
    (becomes (fun () -> At (other, interrupted incremented, fun _ -> Then last)));
  check "At, what follows" ~steps:2
    (becomes (fun () ->
         At (other, incremented, interrupted (fun _ -> Step.Then last))));
  check "Resume, what follows" ~steps:2
    (becomes (fun () ->
         Resume (accepts, Ok (), interrupted (fun _ -> Step.Then last))));
  check "refused" ~steps:2 (fun () n ->
      Hand_over
        {
          state = n + 1;
          waiter = refuses ();
          outcome = Ok ();
          accepted = Done ();
          refused = Then (interrupted last);
        });
  (* Between two changes there are only a hundred exceptions. Altogether there are more than
     the driver tolerates in a row. *)
  check "many steps" ~steps:201
    (becomes (fun () ->
         let rec more i n : _ Step.t =
           if i = 0 then Return (n, ())
           else Become (n + 1, Then (interrupted (more (i - 1))))
         in
         Then (more 200)))

(* A step that always raises is a fault of the structure, so the driver must give up. *)
let always () =
  let word = Atomic.make 0 in
  let raises_always _ = raise Exit in
  raises "the first" Exit (fun () ->
      Step.surely word (fun () -> raises_always) ());
  int "nothing was done" 0 (Atomic.get word);
  each
    (fun name { perform } ->
      let word = Atomic.make 0 in
      raises name Exit (fun () ->
          perform word (fun () n -> Become (n + 1, Then raises_always)) ());
      int "as far as possible" 1 (Atomic.get word))
    ()

let not_allowed =
  Invalid_argument "Step: a step returned Wait or Raise where it must not"

let waits () =
  let wait _ : _ Step.t = Wait in
  let word = Atomic.make 0 in
  let check what step =
    raises what not_allowed (fun () -> Step.perform word step ());
    raises what not_allowed (fun () -> Step.surely word step ())
  in
  check "at once" (fun () -> wait);
  int "nothing was done" 0 (Atomic.get word);
  yes "attempt" (Step.attempt word (fun () -> wait) () = (None : unit option));
  check "in a chain" (fun () n -> Become (n + 1, Then wait));
  check "in another word" (fun () n ->
      Become (n + 1, At (Atomic.make (), wait, fun () -> Done ())));
  raises "owed" not_allowed (fun () -> Step.pay (Step.owing word (Then wait)));
  (* The only effect is that the waiters that refused are removed. *)
  let waiters = Atomic.make (queue [ refuses (); refuses () ]) in
  let step () waiters : _ Step.t =
    if Waiters.is_empty waiters then Wait
    else
      Hand_over
        {
          state = Waiters.tail waiters;
          waiter = Waiters.head waiters;
          outcome = Ok ();
          accepted = Step.finished;
          refused = Again;
        }
  in
  yes "attempt, after refusals" (Step.attempt waiters step () = None);
  yes "they were removed" (Waiters.is_empty (Atomic.get waiters))

let raises_nothing_done name { perform } =
  let state = [ "a" ] in
  let word = Atomic.make state in
  raises name Exit (fun () -> perform word (fun () _ -> Raise Exit) ());
  yes "the same state" (Atomic.get word == state)

(* --- Resuming all waiters -------------------------------------------------------- *)

let resume_all name { perform } =
  traced [ "1"; "2"; "3"; "4"; "5"; "next" ] @@ fun say ->
  let waiter n =
    Waiter.make_live (fun outcome ->
        yes "its outcome" (outcome = Ok "v");
        say (string_of_int n);
        match n with
        | 2 -> raise (Signal 1)
        | 3 -> false
        | 4 -> raise (Signal 2)
        | _ -> true)
  in
  let waiters = queue (List.map waiter [ 1; 2; 3; 4; 5 ]) in
  let step () waiters : _ Step.t =
    let next =
      Step.Then
        (fun rest ->
          say "next";
          Return (rest, ()))
    in
    Become (Waiters.empty, Step.resume_all waiters (Ok "v") next)
  in
  let word = Atomic.make waiters in
  first_is_raised name (fun () -> perform word step ());
  yes "empty" (Waiters.is_empty (Atomic.get word))

(* A task that refuses is counted if it hasn't been unwound. A withdrawn waiter isn't
   counted, and neither is an alternative that refuses. *)
let counts name { perform } =
  let gone = refuses () in
  Waiter.mark_withdrawn gone;
  let alternative answer =
    let w = Waiter.make_alternative (Atomic.make false) () in
    w.resumer <- (fun _ -> answer);
    w
  in
  let waiters =
    [ accepts; refuses (); gone; alternative true; alternative false ]
  in
  let step () n : _ Step.t =
    Become (n, Step.resume_and_count (queue waiters) (Ok ()) (fun n -> Done n))
  in
  int name 3 (perform (Atomic.make 0) step ())

(* --- Step.within and replacing ---------------------------------------------------- *)

let give_back () =
  let word = Atomic.make 0 in
  let step x n : _ Step.t = Return (n + x, ()) in
  let slow _ _ = false and fast word _ = Atomic.compare_and_set word 0 10 in
  let interrupted _ _ = raise (Signal 1) in
  let check what expected ~fast f =
    Atomic.set word 0;
    (match Step.within ~fast word step 1 f with
    | v -> int what 7 v
    | exception Exit -> ());
    int what expected (Atomic.get word)
  in
  check "by the step" 1 ~fast:slow (fun () -> 7);
  check "by the fast path" 10 ~fast (fun () -> 7);
  check "after an exception" 1 ~fast:slow (fun () -> raise Exit);
  check "after an exception, fast" 10 ~fast (fun () -> raise Exit);
  first_is_raised "a handler raises in the fast path" (fun () ->
      Atomic.set word 0;
      Step.give_back ~fast:interrupted word step 1);
  int "given back" 1 (Atomic.get word);
  let replace f = Step.replacing ~fast:slow word step f 100 in
  Atomic.set word 0;
  int "replacing" 7 (replace (fun old -> (old + 1, 7)));
  int "the new value" 101 (Atomic.get word);
  raises "replacing" Exit (fun () -> replace (fun _ -> raise Exit));
  int "the old value" 201 (Atomic.get word)

(* --- At every allocation ---------------------------------------------------------- *)

let at_every_allocation = Interrupting.all_of
let count_step x n : _ Step.t = Return (Some (Option.get n + x), ())

let surely_returns () =
  at_every_allocation (fun () ->
      let word = Atomic.make (Some 0) in
      ( (fun () -> Step.surely word count_step 1),
        fun what -> int what 1 (Option.get (Atomic.get word)) ))

let counting () =
  let count = ref 0 in
  ( Waiter.make_live (fun _ ->
        incr count;
        true),
    count )

let outcome = Ok ()

let hand_over_step () waiters : _ Step.t =
  if Waiters.is_empty waiters then Raise Not_found
  else
    Hand_over
      {
        state = Waiters.tail waiters;
        waiter = Waiters.head waiters;
        outcome;
        accepted = Step.finished;
        refused = Again;
      }

let surely_hands_over () =
  at_every_allocation (fun () ->
      let accepting, count = counting () and last, count_last = counting () in
      let waiters = [ refuses (); refuses (); accepting; last ] in
      let word = Atomic.make (queue waiters) in
      ( (fun () -> Step.surely word hand_over_step ()),
        fun what ->
          int (what ^ ": resumed") 1 !count;
          int (what ^ ": the next one waits") 0 !count_last;
          int (what ^ ": waiters") 1 (Waiters.length (Atomic.get word)) ))

type long = { number : int; waiters : (unit, unit) Waiters.t }

let longer long = { long with number = long.number + 1 }

(* One chain has two atomics, two hand-overs, and a resumption of all waiters. *)
let long_step other long : _ Step.t =
  let last long : _ Step.t = Return (longer long, ()) in
  let again long : _ Step.t =
    if long.number < 5 then Become (longer long, Again)
    else Become (long, Then last)
  in
  let hand_over long : _ Step.t =
    if Waiters.is_empty long.waiters then Become (longer long, Then again)
    else
      Hand_over
        {
          state = { long with waiters = Waiters.tail long.waiters };
          waiter = Waiters.head long.waiters;
          outcome;
          accepted = At (other, count_step 1, fun () -> Again);
          refused = Again;
        }
  in
  Become
    ( longer { long with waiters = Waiters.empty },
      Step.resume_all long.waiters outcome
        (At
           ( other,
             count_step 1,
             fun () ->
               Then
                 (fun empty ->
                   Become
                     ( longer { empty with waiters = long.waiters },
                       Then hand_over )) )) )

let surely_all_of_it () =
  at_every_allocation (fun () ->
      let a, count_a = counting () and b, count_b = counting () in
      let other = Atomic.make (Some 0) in
      let word = Atomic.make { number = 0; waiters = queue [ a; b ] } in
      ( (fun () -> Step.surely word long_step other),
        fun what ->
          (* [resume_all] resumes it once, and the hand-over once more. *)
          int (what ^ ": a") 2 !count_a;
          int (what ^ ": b") 2 !count_b;
          int (what ^ ": the other word") 3 (Option.get (Atomic.get other));
          int (what ^ ": changes") 6 (Atomic.get word).number ))

(* [perform] need not do anything if it was interrupted before it began. *)
let all_or_nothing () =
  at_every_allocation (fun () ->
      let a, count_a = counting () in
      let other = Atomic.make (Some 0) in
      let word = Atomic.make { number = 0; waiters = queue [ a ] } in
      ( (fun () -> Step.perform word long_step other),
        fun what ->
          match ((Atomic.get word).number, !count_a, Atomic.get other) with
          | 0, 0, Some 0 | 6, 2, Some 2 -> ()
          | n, a, _ -> Alcotest.failf "%s: %d changes, %d resumed" what n a ))

(* An interrupted operation withdraws its waiter again, unless that has happened. *)
let withdrawn_once () =
  let queue change w waiters = change waiters w in
  let follows = Atomic.make (Some 0) in
  let left : _ Step.next = At (follows, count_step 1, fun () -> Done ()) in
  at_every_allocation (fun () ->
      let w = Waiter.make_live (fun _ -> true) in
      let word = Atomic.make Waiters.empty in
      Atomic.set follows (Some 0);
      let step () _ : _ Step.t = Wait in
      List.iter
        (fun w -> yes "enlisted" (Step.enlist word step queue w))
        [ Waiter.make_live (fun _ -> true); w ];
      Waiter.mark_leaving w;
      let withdraw () = Step.withdraw word queue left w in
      ( withdraw,
        fun what ->
          if not (Waiter.is_withdrawn w) then begin
            int
              (what ^ ": nothing was done")
              2
              (Waiters.length (Atomic.get word));
            withdraw ()
          end;
          int what 1 (Waiters.length (Atomic.get word));
          int (what ^ ": what follows") 1 (Option.get (Atomic.get follows)) ))

(* --- Two domains ------------------------------------------------------------------ *)

let increments = 100_000

let contention () =
  let word = Atomic.make 0 and other = Atomic.make 0 and last = Atomic.make 0 in
  let alone x n : _ Step.t = Return (n + x, ()) in
  let chain x n : _ Step.t =
    Become
      ( n + x,
        At (other, alone x, fun () -> At (last, alone x, fun () -> Done ())) )
  in
  let work perform () =
    for _ = 1 to increments do
      perform chain;
      perform alone
    done
  in
  let join = domain (work (fun step -> Step.surely word step 1)) in
  work (fun step -> Step.perform word step 1) ();
  join ();
  int "the first word" (4 * increments) (Atomic.get word);
  int "the second" (2 * increments) (Atomic.get other);
  int "the third" (2 * increments) (Atomic.get last)

(* The backtrace begins where the exception was raised, not where the driver raises it
   again. *)
let where_it_was_raised name { perform } =
  let raising = Waiter.make_live (fun _ -> raise Exit) in
  let step () n : _ Step.t =
    Become (n + 1, Resume (raising, Ok (), fun _ -> Step.finished))
  in
  let first_place () =
    let slots = Printexc.backtrace_slots (Printexc.get_raw_backtrace ()) in
    Option.bind slots (fun slots -> Printexc.Slot.location slots.(0))
  in
  match perform (Atomic.make 0) step () with
  | () -> Alcotest.failf "%s: it does not raise" name
  | exception Exit -> (
      match first_place () with
      | Some { filename; _ } ->
          string name "test_step.ml" (Filename.basename filename)
      | None -> Alcotest.failf "%s: no backtrace" name)

let () =
  run "Step"
    [
      ( "chains",
        [
          test "Again in each position" (each again);
          test "Again after another step" (each again_of_another);
          test "a waiter's answer" (each answers);
          test "Resume: the answer of each" (each resumes);
          test "Wait where it is not allowed" waits;
          test "Raise changes nothing" (each raises_nothing_done);
          test "resume_all: in order, and each" (each resume_all);
          test "resume_and_count" (each counts);
          test "a waiter whose task will raise"
            (each withdrawn_before_it_raises);
          test "giving back" give_back;
        ] );
      ( "exceptions",
        [
          test "a hundred in the first step" in_first_step;
          test "a hundred in a later step" (each in_later_step);
          test "a step that always raises" always;
          test "the backtrace" (each where_it_was_raised);
        ] );
      ( "at every allocation",
        List.concat_map Interrupting.only
          [
            test "surely, one change" surely_returns;
            test "surely, a hand-over" surely_hands_over;
            test "surely, a long chain" surely_all_of_it;
            test "perform, all or nothing" all_or_nothing;
            test "a waiter is withdrawn once" withdrawn_once;
          ] );
      ("domains", [ test "contention" contention ]);
    ]
