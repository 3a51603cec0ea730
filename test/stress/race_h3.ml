(* The race of H3. Each waiting task is both resumed, from another domain, and cancelled. In
   both cases the value ends up in exactly one place. Either the task received it, or it is in
   the box. *)

open Concord
open Concord_test_support.Race

let size = 1_000

(* In one direction, the tasks wait to take and the producer puts. In the other direction, the
   boxes are full, the tasks wait to put, and the producer takes. *)
type direction = Taking | Putting

type round = {
  direction : direction;
  boxes : int Mvar.t array;
  ended : int option array;
      (** The value that the task received or put, or [None] if it was
          cancelled. *)
}

let new_round direction =
  let box _ =
    match direction with
    | Taking -> Mvar.create_empty ()
    | Putting -> Mvar.create (-1)
  in
  { direction; boxes = Array.init size box; ended = Array.make size None }

let wait round i =
  match round.direction with
  | Taking -> round.ended.(i) <- Some (Mvar.take round.boxes.(i))
  | Putting ->
      Mvar.put round.boxes.(i) i;
      round.ended.(i) <- Some i

(* Returns [false] if the operation, which never has to wait, did not succeed. *)
let resume round i =
  match round.direction with
  | Taking -> Mvar.try_put round.boxes.(i) i
  | Putting -> Mvar.try_take round.boxes.(i) = Some (-1)

(* Counts the resumed tasks. Fails if a value was lost or duplicated. *)
let resumed name round =
  let count = ref 0 in
  for i = 0 to size - 1 do
    let box = round.boxes.(i) in
    if Mvar.waiters box <> 0 then fail "%s: a waiter stays" name;
    let left = Mvar.try_take box in
    (match (round.direction, round.ended.(i), left) with
    | Taking, Some v, None when v = i -> incr count
    | Putting, Some _, Some v when v = i -> incr count
    | Taking, None, Some v when v = i -> ()
    | Putting, None, None -> ()
    | _, ended, left ->
        let show = Option.fold ~none:"nothing" ~some:string_of_int in
        fail "%s: the task has %s, the box has %s, of %d" name (show ended)
          (show left) i);
    if not (Mvar.is_empty box) then fail "%s: a value was doubled" name
  done;
  !count

(* --- The other domain ----------------------------------------------------- *)

type work = Nothing | Work of (unit -> unit) | Stop

(* A domain that runs the work put there, and then puts [Nothing]. Both sides spin, so that
   they start at the same moment. They stop spinning if the other side has no processor. *)
let relax spins = if spins < 2_000 then Domain.cpu_relax () else Unix.sleepf 0.

let with_producer f =
  let work = Atomic.make Nothing in
  let rec serve spins =
    match Atomic.get work with
    | Nothing ->
        relax spins;
        serve (spins + 1)
    | Work f ->
        f ();
        Atomic.set work Nothing;
        serve 0
    | Stop -> ()
  in
  let producer = Domain.spawn (fun () -> serve 0) in
  let rec wait spins =
    if Atomic.get work != Nothing then begin
      relax spins;
      wait (spins + 1)
    end
  in
  let both there here =
    Atomic.set work (Work there);
    here ();
    wait 0
  in
  Fun.protect
    (fun () -> f both)
    ~finally:(fun () ->
      Atomic.set work Stop;
      Domain.join producer)

(* --- The hosts ------------------------------------------------------------ *)

(* These aren't the hosts of test/support/hosts, because many tasks are cancelled while they
   are resumed, and nothing else may happen in between.

   A host runs one round after the other. In each round it starts the tasks, then cancels and
   resumes them at the same time, and returns when all have ended. Each of the two domains has
   its own random generator, so its draws don't depend on the other domain. *)

let pause random n =
  for _ = 1 to Random.State.int random n do
    Domain.cpu_relax ()
  done

(* Goes in the same direction as the producer, or in the opposite one. *)
let cancel_all random cancel tasks =
  pause random 300;
  let backwards = Random.State.bool random in
  for i = 0 to size - 1 do
    cancel tasks.(if backwards then size - 1 - i else i)
  done

let must_resume round i =
  if not (resume round i) then fail "an operation waited without need"

let producer there round () =
  pause there 300;
  for i = 0 to size - 1 do
    must_resume round i
  done

let task round i () = wait round i

(* The tasks are cancelled on their own domain. *)
let fifo cancellation ~here ~there both each =
  Concord_fifo.run ~cancellation @@ fun () ->
  each @@ fun round ->
  Concord_fifo.Scope.run @@ fun _ ->
  let tasks = Array.init size (fun i -> Concord_fifo.fork (task round i)) in
  both (producer there round) (fun () ->
      cancel_all here Concord_fifo.cancel tasks)

(* The producer cancels too, so each request races with the producer's next step. The loop may
   be busy or asleep. *)
let fifo_remote cancellation ~here:_ ~there both each =
  Concord_fifo.run ~cancellation @@ fun () ->
  each @@ fun round ->
  Concord_fifo.Scope.run @@ fun _ ->
  let tasks = Array.init size (fun i -> Concord_fifo.fork (task round i)) in
  let all_ended = Promise.create () in
  let produce () =
    for i = 0 to size - 1 do
      match Random.State.int there 4 with
      | 0 ->
          must_resume round i;
          Concord_fifo.cancel tasks.(i)
      | n ->
          Concord_fifo.cancel tasks.(i);
          pause there (20 * n);
          must_resume round i
    done;
    Promise.fill all_ended ()
  in
  both produce (fun () -> Promise.await all_ended)

exception Stop_it

let eio ~here ~there both each =
  Eio_main.run @@ fun _ ->
  each @@ fun round ->
  Eio.Switch.run @@ fun switch ->
  let contexts = Array.make size None in
  let fiber i () =
    match
      Eio.Cancel.sub (fun context ->
          contexts.(i) <- Some context;
          wait round i;
          contexts.(i) <- None)
    with
    | () -> ()
    | exception Eio.Cancel.Cancelled Stop_it -> contexts.(i) <- None
  in
  for i = 0 to size - 1 do
    Eio.Fiber.fork ~sw:switch (fiber i)
  done;
  both (producer there round) (fun () ->
      let cancel context = Eio.Cancel.cancel context Stop_it in
      cancel_all here (Option.iter cancel) contexts)

let race n name ~seconds host =
  let here = random (2 * n) and there = random ((2 * n) + 1) in
  with_producer @@ fun both ->
  let races = ref 0 and resumed_count = ref 0 in
  let start = Unix.gettimeofday () in
  let each run_round =
    (* Both outcomes must happen, however busy the machine is. *)
    while
      Unix.gettimeofday () -. start < seconds
      || !resumed_count = 0 || !resumed_count = !races
    do
      let direction = if Random.State.bool here then Taking else Putting in
      let round = new_round direction in
      run_round round;
      races := !races + size;
      resumed_count := !resumed_count + resumed name round
    done
  in
  host ~here ~there both each;
  Printf.printf "%-32s %9d resumed %9d cancelled\n%!" name !resumed_count
    (!races - !resumed_count);
  !races

let () =
  let seconds = if long then 60. else 1. in
  watchdog ~seconds:(60. +. (12. *. seconds));
  let total = ref 0 in
  let race (n, name, host) = total := !total + race n name ~seconds host in
  List.iter race
    (drawn
       [
         (1, "fifo, eager", fifo `Eager);
         (2, "fifo, lazy", fifo `Lazy);
         (3, "eio", eio);
         (4, "fifo, eager, by the producer", fifo_remote `Eager);
         (5, "fifo, lazy, by the producer", fifo_remote `Lazy);
       ]);
  Printf.printf "%d races\n" !total
