(* A task spins before it sleeps, on a host that the test controls. *)

open Concord.Tools
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

(* A host whose task must not sleep. *)
let awake ?check turn = host ?check ~turn sleeps

let register cell resumer =
  cell := resumer;
  None

let look ?(spin = Concord__core__Spin.create ()) host block =
  Host_kit.spin_first spin host block

let nobody _ = Alcotest.fail "not registered"

(* --- Turns ---------------------------------------------------------------------- *)

let first_turn () =
  let turns = ref 0 in
  let host = awake (fun _ -> incr turns) in
  int "resumed at once" 1
    (look host (fun resumer ->
         yes "told" (resumer (Ok 1));
         None));
  int "it has taken a turn" 1 !turns;
  int "a value at once" 2 (look host (fun _ -> Some 2));
  int "it has another one" 2 !turns

(* The task is resumed within [block], so it doesn't spin. This must not count as a spin in
   vain. *)
let turns_teach_nothing () =
  let spin = Concord__core__Spin.create () in
  for _ = 1 to 20 do
    look ~spin (awake ignore) (fun resumer ->
        yes "told" (resumer (Ok ()));
        None)
  done;
  yes "the next one spins" (Concord__core__Spin.begin_turns spin > 0)

let many_turns () =
  let turns = ref 0 in
  raises "it sleeps" Slept (fun () ->
      look
        (host ~turn:(fun _ -> incr turns) sleeps)
        (fun (_ : unit Suspend.resumer) -> None));
  int "after 400 turns" 400 !turns

let resumed_in_a_turn () =
  let cell = ref nobody and turns = ref 0 in
  let turn _ =
    incr turns;
    if !turns = 5 then yes "told" (!cell (Ok 7))
  in
  int "value" 7 (look (awake turn) (register cell));
  int "no further turn" 5 !turns;
  no "only once" (!cell (Ok 8))

(* --- Exceptions ------------------------------------------------------------------ *)

let raises_before () =
  let cell = ref nobody and spin = Concord__core__Spin.create () in
  raises "the turn" Boom (fun () ->
      look ~spin (awake (fun _ -> raise Boom)) (register cell));
  no "no longer resumed" (!cell (Ok 1));
  yes "another one may spin" (Concord__core__Spin.begin_turns spin > 0)

(* A signal handler raises in a task that has been resumed. *)
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
  (* This [block] breaks clause S1, so its exception is dropped. *)
  int "block resumes, and raises" 4
    (look (awake ignore) (fun resumer ->
         ignore (resumer (Ok 4) : bool);
         raise Boom));
  int "nothing is left" 5 (look (awake ignore) (fun _ -> Some 5))

(* This [block] breaks clause S1, because it returns a value after it resumed the task. That
   value is dropped, but a handler's exception in the turn afterwards isn't. *)
let raises_after_both () =
  let block resumer =
    yes "told" (resumer (Ok 6));
    Some 7
  in
  int "the value arrives" 6 (look (awake (fun _ -> raise Boom)) block);
  raises "the next one raises" Boom (fun () ->
      look (awake ignore) (fun _ -> Some 2))

let refused () =
  let spin = Concord__core__Spin.create () in
  raises "elsewhere" Host_kit.Elsewhere (fun () ->
      look ~spin
        (awake ~check:(fun () -> raise Host_kit.Elsewhere) ignore)
        (fun _ -> Alcotest.fail "block is called"));
  yes "another one may spin" (Concord__core__Spin.begin_turns spin > 0)

(* --- Cancelling -------------------------------------------------------------------- *)

let cancelled_in_a_turn () =
  let cell = ref nobody in
  let turn cancel = yes "cancelled" (cancel Cancelled) in
  raises "the task" Cancelled (fun () -> look (awake turn) (register cell));
  no "resumed, at once" (!cell (Ok 1))

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

(* The task doesn't spin, so the host alone decides. *)
let cancelled_without_a_look () =
  let spin = Concord__core__Spin.create () in
  Concord__core__Spin.never spin;
  let suspend ~cancel _ =
    yes "cancelled" (cancel Cancelled);
    raise Cancelled
  in
  raises "the task" Cancelled (fun () ->
      look ~spin (host suspend) (fun (_ : unit Suspend.resumer) -> None))

(* --- What spinning teaches ------------------------------------------------------ *)

(* Counts the waits until one spins, after one that was resumed in a turn. *)
let skipped_after resume =
  let spin = Concord__core__Spin.create () and cell = ref nobody in
  let turn _ = yes "told" (resume (fun () -> !cell (Ok 1))) in
  int "value" 1 (look ~spin (awake turn) (register cell));
  let rec skipped n =
    if Concord__core__Spin.begin_turns spin > 0 then n else skipped (n + 1)
  in
  skipped 0

let only_other_domains_count () =
  int "by another domain" 0 (skipped_after in_domain);
  int "by its own" 1 (skipped_after (fun resume -> resume ()))

(* A cancellation comes from the task's own loop, so it doesn't count as a success. *)
let a_cancellation_does_not () =
  let spin = Concord__core__Spin.create () in
  let turn cancel = yes "cancelled" (cancel Cancelled) in
  raises "the task" Cancelled (fun () ->
      look ~spin (awake turn) (fun (_ : unit Suspend.resumer) -> None));
  int "skipped" 0 (Concord__core__Spin.begin_turns spin);
  yes "only one" (Concord__core__Spin.begin_turns spin > 0)

let in_vain () =
  let spin = Concord__core__Spin.create () in
  raises "it sleeps" Slept (fun () ->
      look ~spin (host sleeps) (fun (_ : unit Suspend.resumer) -> None));
  int "skipped" 0 (Concord__core__Spin.begin_turns spin);
  yes "only one" (Concord__core__Spin.begin_turns spin > 0)

let nothing_from_a_value_at_once () =
  let spin = Concord__core__Spin.create () in
  for i = 1 to 3 do
    let turns = ref 0 in
    int "value" i (look ~spin (awake (fun _ -> incr turns)) (fun _ -> Some i));
    int "it spun" 1 !turns
  done

(* --- One at a time ------------------------------------------------------------------ *)

let another_one_meanwhile () =
  let spin = Concord__core__Spin.create () in
  let looks () = Concord__core__Spin.begin_turns spin > 0 in
  let suspend ~cancel:_ _ =
    no "one that waits at once" (looks ());
    (* Until the sleeping task has slept during all of the recent waits. *)
    let rec waits n = n > 0 && (looks () || waits (n - 1)) in
    yes "another one spins" (waits 200);
    raise Cancelled
  in
  raises "the first one" Cancelled (fun () ->
      look ~spin (host suspend) (fun (_ : unit Suspend.resumer) -> None));
  int "the other one still spins" 0 (Concord__core__Spin.begin_turns spin)

let () =
  in_domain ignore;
  if Domain.recommended_domain_count () > 1 then
    run "Look"
      [
        ( "turns",
          [
            test "at least one" first_turn;
            test "resumptions by its own domain teach nothing"
              turns_teach_nothing;
            test "a hundred, then it sleeps" many_turns;
            test "resumed in one" resumed_in_a_turn;
          ] );
        ( "exceptions",
          [
            test "before it is resumed" raises_before;
            test "after it is resumed: kept for the next wait" raises_after;
            test "after block has resumed it and answered" raises_after_both;
            test "of block" block_raises;
            test "elsewhere" refused;
          ] );
        ( "cancelling",
          [
            test "in a turn" cancelled_in_a_turn;
            test "too late" cancelled_too_late;
            test "asleep" cancelled_asleep;
            test "where it does not spin" cancelled_without_a_look;
          ] );
        ( "learning",
          [
            test "only other domains count" only_other_domains_count;
            test "a cancellation does not" a_cancellation_does_not;
            test "in vain" in_vain;
            test "a value at once teaches nothing" nothing_from_a_value_at_once;
          ] );
        ("sleeping", [ test "another one may spin" another_one_meanwhile ]);
      ]
