(* A task that looks before it sleeps, on a host that does what the test says. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Cancelled
exception Slept

let sleeps ~cancel:_ _ = raise Slept

let host ?(check = ignore) ?(turn = fun _ -> ()) suspend_unit =
  let suspend (type a) ~cancel (block : a Suspend.resumer -> a option) : a =
    match
      suspend_unit ~cancel (fun () -> Option.is_some (block (fun _ -> true)))
    with
    | () -> raise Slept
  in
  Host_kit.{ check; turn; suspend }

(* One that must not sleep. *)
let awake ?check turn = host ?check ~turn sleeps

let register cell resumer =
  cell := resumer;
  None

let look ?(spin = Host_kit.Spin.create ()) host block =
  Host_kit.look_first spin host block

let nobody _ = Alcotest.fail "not registered"

(* --- Turns ---------------------------------------------------------------------- *)

let first_turn () =
  let turns = ref 0 in
  let host = awake (fun _ -> incr turns) in
  int "resumed at once" 1
    (look host (fun resumer ->
         yes "told" (resumer (Ok 1));
         None));
  int "it has a turn" 1 !turns;
  int "a value at once" 2 (look host (fun _ -> Some 2));
  int "it has another one" 2 !turns

let many_turns () =
  let turns = ref 0 in
  raises "it sleeps" Slept (fun () ->
      look
        (host ~turn:(fun _ -> incr turns) sleeps)
        (fun (_ : unit Suspend.resumer) -> None));
  int "after a hundred turns" 100 !turns

let resumed_in_a_turn () =
  let cell = ref nobody and turns = ref 0 in
  let turn _ =
    incr turns;
    if !turns = 5 then yes "told" (!cell (Ok 7))
  in
  int "value" 7 (look (awake turn) (register cell));
  int "no turn more" 5 !turns;
  no "only once" (!cell (Ok 8))

(* --- Exceptions ------------------------------------------------------------------ *)

let raises_before () =
  let cell = ref nobody and spin = Host_kit.Spin.create () in
  raises "the turn" Boom (fun () ->
      look ~spin (awake (fun _ -> raise Boom)) (register cell));
  no "not resumed any more" (!cell (Ok 1));
  yes "another one may look" (Host_kit.Spin.begin_turns spin > 0)

(* What a signal handler raises in a task that has been resumed. *)
let raises_after () =
  let cell = ref nobody in
  let turn _ =
    yes "told" (!cell (Ok 1));
    raise Boom
  in
  int "the value arrives" 1 (look (awake turn) (register cell));
  raises "the next one raises" Boom (fun () ->
      look (awake ignore) (fun _ -> Some 2));
  int "only once" 3 (look (awake ignore) (fun _ -> Some 3))

let block_raises () =
  raises "block" Boom (fun () -> look (awake ignore) (fun _ -> raise Boom));
  (* Against S1: told nothing. *)
  int "block resumes, and raises" 4
    (look (awake ignore) (fun resumer ->
         ignore (resumer (Ok 4) : bool);
         raise Boom));
  int "nothing is left" 5 (look (awake ignore) (fun _ -> Some 5))

let refused () =
  let spin = Host_kit.Spin.create () in
  raises "elsewhere" Host_kit.Elsewhere (fun () ->
      look ~spin
        (awake ~check:(fun () -> raise Host_kit.Elsewhere) ignore)
        (fun _ -> Alcotest.fail "block is called"));
  yes "another one may look" (Host_kit.Spin.begin_turns spin > 0)

(* --- Cancelling -------------------------------------------------------------------- *)

let cancelled_in_a_turn () =
  let cell = ref nobody in
  let turn cancel = yes "cancelled" (cancel Cancelled) in
  raises "the task" Cancelled (fun () -> look (awake turn) (register cell));
  no "told, at once" (!cell (Ok 1))

let cancelled_too_late () =
  let cell = ref nobody in
  let turn cancel =
    yes "told" (!cell (Ok 1));
    no "cancelled" (cancel Cancelled)
  in
  int "the value arrives" 1 (look (awake turn) (register cell));
  int "no cancellation is kept" 2 (look (awake ignore) (fun _ -> Some 2))

let cancelled_asleep () =
  let cell = ref nobody in
  let suspend ~cancel block =
    no "it sleeps" (block ());
    yes "cancelled" (cancel Cancelled);
    no "told" (!cell (Ok 1));
    raise Cancelled
  in
  raises "the task" Cancelled (fun () -> look (host suspend) (register cell))

(* --- One at a time ------------------------------------------------------------------ *)

let another_one_meanwhile () =
  let spin = Host_kit.Spin.create () in
  let waits_to_skip () = ignore (Host_kit.Spin.begin_turns spin : int) in
  let suspend ~cancel:_ _ =
    waits_to_skip ();
    yes "another one looks" (Host_kit.Spin.begin_turns spin > 0);
    raise Cancelled
  in
  raises "the first one" Cancelled (fun () ->
      look ~spin (host suspend) (fun (_ : unit Suspend.resumer) -> None));
  int "the other one still looks" 0 (Host_kit.Spin.begin_turns spin)

let () =
  in_domain ignore;
  if Domain.recommended_domain_count () > 1 then
    run "Look"
      [
        ( "turns",
          [
            test "at least one" first_turn;
            test "a hundred, then it sleeps" many_turns;
            test "resumed in one" resumed_in_a_turn;
          ] );
        ( "exceptions",
          [
            test "before it is resumed" raises_before;
            test "after it was: kept for the next wait" raises_after;
            test "of block" block_raises;
            test "elsewhere" refused;
          ] );
        ( "cancelling",
          [
            test "in a turn" cancelled_in_a_turn;
            test "too late" cancelled_too_late;
            test "asleep" cancelled_asleep;
          ] );
        ("sleeping", [ test "another one may look" another_one_meanwhile ]);
      ]
