(* The driver of steps, tested with the smallest structure: values, and tasks that wait for
   one. *)

open Actor

type state = { values : int list; waiters : (unit, int) Waiters.t }

let give_step v state : _ Step.t =
  if Waiters.is_empty state.waiters then
    Return ({ state with values = v :: state.values }, ())
  else
    Hand_over
      {
        state = { state with waiters = Waiters.tail state.waiters };
        waiter = Waiters.head state.waiters;
        outcome = Ok v;
        accepted = Step.finished;
        refused = Again;
      }

(* The same in several steps. The waiter's answer decides which step follows. *)
let rec give_slowly_step v state : _ Step.t =
  if Waiters.is_empty state.waiters then
    Become (state, Then (fun state -> give_step v state))
  else
    Hand_over
      {
        state = { state with waiters = Waiters.tail state.waiters };
        waiter = Waiters.head state.waiters;
        outcome = Ok v;
        accepted = Done ();
        refused = Then (give_slowly_step v);
      }

(* The same, but the waiter is resumed after the change. *)
let rec give_later_step v state : _ Step.t =
  if Waiters.is_empty state.waiters then give_step v state
  else
    let answered accepted : _ Step.next =
      if accepted then Done () else Then (give_later_step v)
    in
    Become
      ( { state with waiters = Waiters.tail state.waiters },
        Resume (Waiters.head state.waiters, Ok v, answered) )

let take_step () state : _ Step.t =
  match state.values with
  | [] -> Wait
  | v :: values -> Return ({ state with values }, v)

let queue change w state = { state with waiters = change state.waiters w }

let taking ?(left = Step.finished) () =
  {
    Operation.default with
    name = "take";
    how = By_steps { word = Fun.id; step = take_step; queue; left };
  }

let take ?left name t =
  let operation = taking ?left () in
  make name (fun () -> string_of_int (Operation.wait operation t ()))

let attempt word step x = ignore (Step.attempt word step x : unit option)

let ways =
  [
    ("attempt", fun t v -> attempt t give_step v);
    ("surely", fun t v -> Step.surely t give_step v);
    ("attempt, slowly", fun t v -> attempt t give_slowly_step v);
    ("surely, slowly", fun t v -> Step.surely t give_slowly_step v);
    ("attempt, later", fun t v -> attempt t give_later_step v);
    ("surely, later", fun t v -> Step.surely t give_later_step v);
  ]

let values state =
  List.sort Int.compare state.values
  |> List.map string_of_int |> String.concat " " |> Printf.sprintf "[%s]"

let check name make expect =
  let check (way, give) =
    Model.check (way ^ ": " ^ name) ~expect @@ fun () ->
    let t = Atomic.make { values = []; waiters = Waiters.empty } in
    let give v = Do (fun () -> give t v) in
    let first, processes, describe_more = make t give in
    let processes, actors = start first processes in
    ( processes,
      fun () ->
        let state = Atomic.get t in
        all_queued actors [ live state.waiters ];
        describe actors ^ " " ^ values state ^ describe_more () )
  in
  List.iter check ways

let nothing () = ""

let hand_overs () =
  check "two hand over to one that is cancelled"
    (fun t give ->
      let a = take "a" t in
      ([ a ], [ give 1; give 2; Cancel a ], nothing))
    [ "a=1 [2]"; "a=2 [1]"; "a=cancelled [1 2]" ];
  check "one hands over to two, the first is cancelled"
    (fun t give ->
      let a = take "a" t and b = take "b" t in
      ([ a; b ], [ give 1; Cancel a ], nothing))
    [ "a=1 b=waits []"; "a=cancelled b=1 []" ];
  check "one hands over to one that comes and is cancelled"
    (fun t give ->
      let a = take "a" t in
      ([], [ Run a; give 1; Cancel a ], nothing))
    [ "a=1 []"; "a=cancelled [1]" ];
  check "one hands over while another one comes"
    (fun t give -> ([ take "a" t ], [ give 1; Run (take "b" t) ], nothing))
    [ "a=1 b=waits []" ]

(* The step after a withdrawal is done once. It isn't done if the waiter refused a hand-over
   before, because then the step that hands over continues instead. *)
let withdrawals () =
  check "one withdraws, and more follows"
    (fun t give ->
      let follows = Atomic.make 0 in
      let count n : _ Step.t = Return (n + 1, ()) in
      let left : _ Step.next = At (follows, count, fun () -> Done ()) in
      let a = take ~left "a" t in
      ( [ a ],
        [ give 1; Cancel a ],
        fun () -> Printf.sprintf " %d follows" (Atomic.get follows) ))
    [
      "a=1 [] 0 follows";
      "a=cancelled [1] 0 follows";
      "a=cancelled [1] 1 follows";
    ]

(* A chain of two words, each of which another process changes. *)
let two_words () =
  let doubled () n : _ Step.t = Return (2 * n, ()) in
  let chain other n : _ Step.t =
    let at_other m : _ Step.t = Return (m + 1, m) in
    let last seen n : _ Step.t = Return (n + 10, seen) in
    Become (n + 1, At (other, at_other, fun seen -> Then (last seen)))
  in
  let check (way, perform) =
    Model.check
      ("a chain of two words, " ^ way)
      ~expect:
        [
          "12 * 2, seen 1, then 2 * 2";
          "12 * 2, seen 2";
          "2 * 2 + 10, seen 1, then 2 * 2";
          "2 * 2 + 10, seen 2";
          "1 * 2 + 11, seen 1, then 2 * 2";
          "1 * 2 + 11, seen 2";
        ]
    @@ fun () ->
    let word = Atomic.make 1 and other = Atomic.make 1 and seen = ref 0 in
    ( [
        (fun () -> seen := perform word chain other);
        (fun () -> Step.perform word doubled ());
        (fun () -> Step.perform other doubled ());
      ],
      fun () ->
        let first =
          match Atomic.get word with
          | 24 -> "12 * 2"
          | 14 -> "2 * 2 + 10"
          | 13 -> "1 * 2 + 11"
          | n -> failwith (Printf.sprintf "the word is %d" n)
        and second =
          match (!seen, Atomic.get other) with
          | 1, 4 -> "seen 1, then 2 * 2"
          | 2, 3 -> "seen 2"
          | seen, m -> failwith (Printf.sprintf "seen %d, it is %d" seen m)
        in
        first ^ ", " ^ second )
  in
  check ("attempt", fun word step x -> Option.get (Step.attempt word step x));
  check ("surely", fun word step x -> Step.surely word step x)

let () =
  hand_overs ();
  withdrawals ();
  two_words ();
  Model.finish ()
