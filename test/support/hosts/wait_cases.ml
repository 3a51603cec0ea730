(* What a host must do while its tasks wait, for each operation of the table that may wait, and for
   a scheduler in a task. *)

open Concord
open Concord_test_support
open Check

let until = Inner_cases.until

(* [f] gets each operation, in the body of one run. *)
let each (host : Test_host.t) f () =
  let operations = Waits.direct () in
  host.run (fun tasks ->
      List.iter (fun (name, make) -> f tasks name (make ())) operations)

let waits tasks name n { Waits.waiters; _ } =
  until tasks (Printf.sprintf "%s: %d wait" name n) (fun () -> waiters () = n)

(* A task that waits. [ended ()] is whether it had the right value, or its exception. *)
let start (tasks : Test_host.tasks) { Waits.wait; _ } =
  let ended = Promise.create () in
  tasks.fork (fun () ->
      match wait () with
      | ok -> Promise.fill ended ok
      | exception e ->
          Promise.fail ended e;
          raise e);
  ended

let has_its_value name ended { Waits.waiters; passed; _ } =
  yes (name ^ ": its value") (Promise.await ended);
  int (name ^ ": no task waits") 0 (waiters ());
  yes (name ^ ": the value is nowhere else") (passed ())

(* The body continues while the task waits. *)
let woken by tasks name it =
  let ended = start tasks it in
  waits tasks name 1 it;
  by it.wake;
  has_its_value name ended it

(* The second task still waits when the first one has continued. *)
let in_order tasks name ({ Waits.one_by_one; waiters; wake; _ } as it) =
  if one_by_one then begin
    let first = start tasks it in
    waits tasks name 1 it;
    let second = start tasks it in
    waits tasks name 2 it;
    wake ();
    yes (name ^ ": the first one's value") (Promise.await first);
    int (name ^ ": the second waits") 1 (waiters ());
    no (name ^ ": the second waits") (Promise.is_resolved second);
    wake ();
    (* Its value is the second, which the table doesn't know. *)
    ignore (Promise.await second : bool);
    int (name ^ ": no task waits") 0 (waiters ())
  end

(* Tasks of one thread continue in the order in which they are woken. Here this is the order of
   their waits, because a task that spins could overtake others otherwise. *)
let at_once fill_by (tasks : Test_host.tasks) =
  let n = 5 and continued = ref [] in
  let gates = List.init n (fun _ -> Promise.create ())
  and ended = Latch.create n in
  let wait i gate () =
    Promise.await gate;
    continued := i :: !continued;
    Latch.count_down ended
  in
  List.iteri (fun i gate -> tasks.fork (wait i gate)) gates;
  until tasks "all wait" (fun () ->
      List.for_all (fun gate -> Promise.waiters gate = 1) gates);
  fill_by (fun () -> List.iter (fun gate -> Promise.fill gate ()) gates);
  Latch.await ended;
  Alcotest.(check (list int))
    "continued" (List.init n Fun.id) (List.rev !continued)

let by_another host start () =
  Waking.with_jobs start @@ fun run_job ->
  let by wake =
    let woken = Promise.create () in
    run_job (fun () ->
        wake ();
        Promise.fill woken ());
    Promise.await woken
  in
  each host (woken by) ()

(* --- Cancelled ----------------------------------------------------------------- *)

(* Whether the task returned, and its value was right. Otherwise it was cancelled. *)
let cancelled cancel ~after { Waits.wait; _ } =
  let returned = ref None in
  cancel (fun () -> returned := Some (wait ())) ~after;
  !returned

let withdrawn cancel tasks name it =
  let returned = cancelled cancel it ~after:(fun () -> waits tasks name 1 it) in
  yes (name ^ ": cancelled") (returned = None);
  int (name ^ ": withdrawn") 0 (it.waiters ());
  it.wake ();
  yes (name ^ ": nothing is lost") (it.kept ())

(* Two tasks of these don't wait for the same thing. *)
let for_one = [ "Lazy.force, computing" ]
let meets name = String.starts_with ~prefix:"Barrier.await" name

let next_in_turn cancel tasks name it =
  if not (List.mem name for_one || meets name) then begin
    let second = ref None in
    let after () =
      waits tasks name 1 it;
      second := Some (start tasks it);
      waits tasks name 2 it
    in
    yes (name ^ ": cancelled") (cancelled cancel it ~after = None);
    int (name ^ ": the other waits") 1 (it.waiters ());
    it.wake ();
    has_its_value name (Option.get !second) it
  end

(* The resumption has decided, so the task has its value. *)
let resumed_before cancel tasks name it =
  let after () =
    waits tasks name 1 it;
    it.wake ()
  in
  let returned = cancelled cancel it ~after in
  yes (name ^ ": it has its value") (returned = Some true);
  yes (name ^ ": the value is nowhere else") (it.passed ())

(* Each of [n] tasks is cancelled while another domain wakes it, so the value is in one place. *)
let race cancel ~n host () =
  let one (tasks : Test_host.tasks) make =
    let all = List.init n (fun _ -> make ()) in
    let go = Promise.create () and ended = Latch.create n in
    let outcomes = List.map (fun it -> (it, Atomic.make None)) all in
    let compete (it, outcome) () =
      Atomic.set outcome
        (cancelled cancel it ~after:(fun () -> Promise.await go));
      Latch.count_down ended
    in
    List.iter (fun one -> tasks.fork (compete one)) outcomes;
    (outcomes, go, ended)
  in
  let is_right name ({ Waits.waiters; kept; passed; _ }, outcome) =
    int (name ^ ": no task waits") 0 (waiters ());
    match Atomic.get outcome with
    | None -> yes (name ^ ": nothing is lost") (kept ())
    | Some ok ->
        yes (name ^ ": its value") ok;
        yes (name ^ ": the value is nowhere else") (passed ())
  in
  let operations = Waits.direct () in
  Waking.with_jobs Check.domain @@ fun run_job ->
  (host : Test_host.t).run @@ fun tasks ->
  List.iter
    (fun (name, make) ->
      (* The wake of a barrier counts those that wait. *)
      if not (meets name) then begin
        let outcomes, go, ended = one tasks make in
        List.iter (fun (it, _) -> waits tasks name 1 it) outcomes;
        let woken = Promise.create () in
        run_job (fun () ->
            List.iter (fun ((it : _ Waits.t), _) -> it.wake ()) outcomes;
            Promise.fill woken ());
        Promise.fill go ();
        until tasks (name ^ ": all have ended") (fun () ->
            Latch.is_open ended && Promise.is_resolved woken);
        List.iter (is_right name) outcomes
      end)
    operations

(* --- All cases ----------------------------------------------------------------- *)

(* [starts] are the hosts of the tasks that wake, and [wakers] are further ones. [in_turn] is whether
   the tasks run in one thread, in turn. [races] is whether each task can cancel another one. *)
let on ?(starts = Waking.starts) ?(wakers = []) ?(in_turn = true)
    ?(races = true) (host : Test_host.t) =
  let woken_by (name, start) =
    test ("woken by " ^ name) (by_another host start)
  in
  let cancellations cancel =
    let each f = each host (f cancel) in
    [
      test "cancelled: withdrawn, nothing is lost" (each withdrawn);
      test "cancelled: the next one is served" (each next_in_turn);
      test "resumed, then cancelled" (each resumed_before);
    ]
    @
    if races then
      [
        test "cancelled while a domain resumes"
          (race cancel ~n:(if Race.long then 100 else 5) host);
      ]
    else []
  in
  ( host.name ^ ": each operation",
    test "woken by a task of the same loop"
      (each host (woken (fun wake -> wake ())))
    :: test "in order" (each host in_order)
    :: List.map woken_by (starts @ wakers)
    @ (if in_turn then
         [
           test "woken at once" (fun () ->
               host.run (at_once (fun fill -> fill ())));
           test "woken at once, by a domain" (fun () ->
               Waking.with_jobs Check.domain @@ fun run_job ->
               host.run (at_once run_job));
         ]
       else [])
    @ Option.fold host.cancel ~none:[] ~some:cancellations
    @ Inner_cases.on host )
