open Concord_test_support
open Scene
module Late = Concord__core__Late

let most = 5_000
let show numbers = String.concat " " (List.map string_of_int numbers)

(* If a handler came too late, the next wait raises its exception. *)
let forget_kept () = try Late.raise_kept () with Moments.Interrupt -> ()

(* --- Expected states -------------------------------------------------------------- *)

type expected = {
  before : int list;  (** The state if the operation was not performed. *)
  after : int list;
  parts : int list list;
  result : int list;
}

let wake scene = Option.iter (fun wake -> wake ()) scene.wake

(* The operation runs in a task, because it may have to wait. *)
let expected case =
  let before, parts =
    let scene = case.make () in
    wake scene;
    (scene.look (), scene.parts)
  in
  let after, result =
    let scene = case.make () in
    let result = ref [] in
    let finish =
      come (fun () ->
          result := scene.perform ();
          0)
    in
    wake scene;
    ignore (finish () : int);
    let after = scene.look () in
    (after, !result)
  in
  let part i =
    let scene = case.make () in
    List.iteri (fun j part -> if j <= i then part ()) scene.parts;
    scene.look ()
  in
  let parts = List.mapi (fun i _ -> part i) parts in
  { before; after; parts; result }

type tried = { mutable faults : string list; mutable interrupted : int }

let fault tried n format =
  Printf.ksprintf
    (fun what ->
      if List.length tried.faults < 5 then
        tried.faults <- Printf.sprintf "moment %d: %s" n what :: tried.faults)
    format

let states = List.map (fun state -> "[" ^ show state ^ "]")

(* [ended] is the result of [Moments.at]. *)
let judge_state tried n expected ended state =
  let check ~what possible =
    if not (List.mem state possible) then
      fault tried n "%s, and it left [%s], not %s" what (show state)
        (String.concat " or " (states possible))
  in
  match ended with
  | Ok result when not (Moments.was_raised ()) ->
      if result <> expected.result then
        fault tried n "it returned [%s], not [%s]" (show result)
          (show expected.result);
      check ~what:"it returned" [ expected.after ]
  | Ok _ ->
      check ~what:"the handler raised and it returned"
        (expected.after :: expected.parts)
  | Error Moments.Interrupt ->
      check ~what:"it was interrupted"
        (expected.before :: expected.after :: expected.parts)
  | Error e -> fault tried n "it raised %s" (Printexc.to_string e)

(* Alcotest redirects the standard error, so this keeps the original. *)
let stderr = Unix.out_channel_of_descr (Unix.dup Unix.stderr)

(* Operations on a structure that was left in pieces may raise. *)
let judge tried n expected scene ended =
  match scene.look () with
  | state -> judge_state tried n expected ended state
  | exception e ->
      fault tried n "it can't be looked at: %s" (Printexc.to_string e)

(* Returns the faults, if there are any. *)
let report case tried =
  Printf.printf "%s: interrupted at %d moments\n%!" case.name tried.interrupted;
  List.rev_map (fun fault -> case.name ^ ", " ^ fault) tried.faults

(* --- The partner ------------------------------------------------------------------- *)

let is_over = Atomic.make false

(* Sleeps after some tries, because the machine may have other work. *)
let rec wait_until ?(tries = 0) condition =
  if not (condition ()) then begin
    if tries < 200 then Domain.cpu_relax () else Unix.sleepf 0.000_02;
    wait_until ~tries:(tries + 1) condition
  end

(* --- Hangs -------------------------------------------------------------------------- *)

let doing = Atomic.make ("nothing", 0)

let rec watch () =
  let before = Atomic.get doing in
  Unix.sleepf 15.;
  let name, n = Atomic.get doing in
  if Atomic.get doing == before then begin
    Printf.fprintf stderr "%s, moment %d: it takes too long\n%!" name n;
    Unix._exit 2
  end;
  watch ()

let watched = lazy (Partner.ask (Partner.thread ()) watch)

let begins case n =
  Lazy.force watched;
  Atomic.set doing (case.name, n)

(* --- Alone -------------------------------------------------------------------------- *)

(* Wakes the operation once it waits, and then sets [woken]. *)
let wake_waiting scene ~before woken =
  while not (Atomic.get is_over || scene.waiters () > before) do
    Thread.yield ()
  done;
  if not (Atomic.get is_over) then begin
    woken := true;
    wake scene
  end

let conclude expected tried n scene ended =
  forget_kept ();
  judge tried n expected scene ended;
  if Moments.was_raised () then tried.interrupted <- tried.interrupted + 1

(* Returns [true] if there may be further moments. *)
let try_alone partner case expected tried ?second n =
  begins case n;
  let scene = case.make () in
  let before = scene.waiters () and woken = ref false in
  Atomic.set is_over false;
  if Option.is_some scene.wake then
    Partner.ask partner (fun () -> wake_waiting scene ~before woken);
  let ended = Moments.at ?second n scene.perform in
  Atomic.set is_over true;
  if Option.is_some scene.wake then begin
    Partner.join partner;
    if not !woken then begin
      if scene.waiters () > before then
        fault tried n "a waiter is left (%d)" (scene.waiters ());
      wake scene
    end
  end;
  conclude expected tried n scene ended;
  Moments.was_raised ()

(* Tries each moment with one handler. With [twice], it tries each again with a second
   handler that comes soon after the first. *)
let alone ~seed ~twice partner case =
  let expected = expected case in
  let tried = { faults = []; interrupted = 0 } in
  let random = Random.State.make [| seed; Hashtbl.hash case.name |] in
  let rec go second n =
    if n < most && try_alone partner case expected tried ?second:(second ()) n
    then go second (n + 1)
  in
  go (fun () -> None) 1;
  if twice then
    for _ = 1 to if Race.long then 20 else 1 do
      go (fun () -> Some (1 + Random.State.int random 10)) 1
    done;
  report case tried

(* --- Beside another domain ----------------------------------------------------------- *)

(* A task that spins before it waits has many moments, so early ones are drawn more often. *)
let any_moment random = truncate (exp (Random.State.float random (log 400.)))

(* A busy machine makes as many rounds as it can in this time. *)
let rounds, seconds = if Race.long then (2_000, 3.) else (30, 0.03)

let pause random most =
  for _ = 1 to Random.State.int random most do
    Domain.cpu_relax ()
  done

let visit random beside =
  beside ();
  pause random 100

(* The other domain's part of a round. *)
let accompany random scene ~before =
  pause random 300;
  match (scene.wake, scene.beside) with
  | None, None -> ()
  | None, Some beside ->
      while not (Atomic.get is_over) do
        visit random beside
      done
  | Some wake, beside ->
      for _ = 1 to Random.State.int random 3 do
        Option.iter (visit random) beside
      done;
      if not scene.remembers then
        wait_until (fun () -> scene.waiters () > before || Atomic.get is_over);
      wake ()

(* [started] counts the rounds that the main domain began, and [ended] those that the other
   domain ended. *)
let beside ~seed partner case =
  let expected = expected case in
  let tried = { faults = []; interrupted = 0 } in
  let random = Random.State.make [| seed; Hashtbl.hash case.name |] in
  let its_random = Random.State.copy random in
  let started = Atomic.make 0 and ended = Atomic.make 0 in
  let now = ref None in
  let rec follow round =
    wait_until (fun () -> Atomic.get started = round);
    match !now with
    | None -> ()
    | Some (scene, before) ->
        accompany its_random scene ~before;
        Atomic.incr ended;
        follow (round + 1)
  in
  let start next =
    now := next;
    Atomic.set is_over false;
    Atomic.incr started
  in
  let until = Unix.gettimeofday () +. seconds in
  let rec go round =
    if round <= rounds && Unix.gettimeofday () < until then begin
      let n = 1 + any_moment random in
      let scene = case.make () in
      start (Some (scene, scene.waiters ()));
      begins case n;
      let outcome = Moments.at n scene.perform in
      Atomic.set is_over true;
      wait_until (fun () -> Atomic.get ended = round);
      conclude expected tried n scene outcome;
      go (round + 1)
    end
  in
  Partner.ask partner (fun () -> follow 1);
  go 1;
  start None;
  Partner.join partner;
  report case tried
