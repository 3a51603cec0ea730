(* Every operation that may wait, in monadic style and in direct style. *)

open Concord
open Concord_test_support
open Lwt.Syntax

(* A structure in a state in which a task has to wait. *)
type 'ok t = {
  wait : unit -> 'ok;
      (** It has to wait. The result says whether the value is right. *)
  waiters : unit -> int;
  wake : unit -> unit;  (** Ends the wait, and never waits itself. *)
  kept : unit -> bool;
      (** Called after [wake] if the waiter was cancelled. Checks that the value
          for the waiter still exists. *)
  remembers : bool;  (** [wake] may come before [wait]. *)
}

(* --- From the table of the operations --------------------------------------- *)

let of_operation map { Operations.service; remembers; make; _ } wait () =
  (* The value of the first wake, which is the same in each structure. *)
  let given = (make 1).wake () in
  let kept =
    match service with
    | (Takes | Shares | Passes) when remembers -> [ given ]
    | _ -> []
  in
  let place = make 1 in
  {
    wait = (fun () -> map (( = ) given) (wait place 7));
    waiters = place.waiters;
    wake = (fun () -> ignore (place.wake () : int));
    kept = (fun () -> place.left () = kept);
    remembers;
  }

let wait { Operations.wait; _ } = wait
let with_event f { Operations.event; _ } name = f ((Option.get event) name)

(* The operations in one style, or their events, for each way with its name. *)
let each map operations ways =
  let case (operation : _ Operations.t) (way, wait, of_event) =
    if of_event && Option.is_none (operation.make 1).event then None
    else Some (operation.name ^ way, of_operation map operation wait)
  in
  List.concat_map
    (fun operation -> List.filter_map (case operation) ways)
    operations

module Monadic = Operations.Make (struct
  type 'a promise = 'a Lwt.t

  let return = Lwt.return
  let map = Lwt.map

  include Concord_lwt
end)

let never event =
  [ Event.never; event; Event.wrap (Event.timeout infinity) (fun () -> 0) ]

let monadic =
  each Lwt.map Monadic.all [ ("", wait, false) ]
  @ each Lwt.map Operations.all
      [
        ( ", direct",
          (fun place v -> Concord_lwt.direct (fun () -> wait place v)),
          false );
        (", sync", with_event Concord_lwt.sync, true);
        (", select", with_event (fun e -> Concord_lwt.select (never e)), true);
        ( ", sync_before",
          with_event (fun e ->
              Lwt.map Option.get (Concord_lwt.sync_before 100. e)),
          true );
      ]

let direct =
  each
    (fun f v -> f v)
    Operations.all
    [
      ("", wait, false);
      (", sync", with_event Event.sync, true);
      (", select", with_event (fun e -> Event.select (never e)), true);
      ( ", sync_before",
        with_event (fun e -> Option.get (Event.sync_before 100. e)),
        true );
    ]

(* --- What is special to promises -------------------------------------------- *)

let is v = Lwt.map (( = ) v)

let to_lwt () =
  let p = Promise.create () in
  {
    wait = (fun () -> is 1 (Concord_lwt.to_lwt p));
    waiters = (fun () -> Promise.waiters p);
    wake = (fun () -> Promise.fill p 1);
    kept = (fun () -> Promise.peek p = Some (Ok 1));
    remembers = true;
  }

let await_result () =
  let p = Promise.create () in
  {
    wait = (fun () -> is (Ok 1) (Concord_lwt.Promise.await_result p));
    waiters = (fun () -> Promise.waiters p);
    wake = (fun () -> Promise.fill p 1);
    kept = (fun () -> Promise.peek p = Some (Ok 1));
    remembers = true;
  }

(* The computation waits. *)
let computing map force () =
  let p = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await p) in
  {
    wait = (fun () -> map (( = ) 1) (force t));
    waiters = (fun () -> Promise.waiters p);
    wake = (fun () -> Promise.fill p 1);
    kept = (fun () -> (not (Lazy.is_val t)) && Lazy.force t = 1);
    remembers = true;
  }

(* The mutex is locked until the wake. *)
let condition () =
  let m = Mutex.create () and c = Condition.create () in
  Mutex.lock m;
  {
    wait =
      (fun () ->
        let+ () = Concord_lwt.Condition.wait c m in
        Mutex.is_locked m);
    waiters = (fun () -> Condition.waiters c);
    wake = (fun () -> Condition.signal c);
    kept = (fun () -> Mutex.is_locked m);
    remembers = false;
  }

let monadic =
  [
    ("to_lwt", to_lwt);
    ("Promise.await_result", await_result);
    ("Lazy.force, computing", computing Lwt.map Concord_lwt.Lazy.force);
    ("Lazy.force_val, computing", computing Lwt.map Concord_lwt.Lazy.force_val);
    ("Condition.wait", condition);
  ]
  @ monadic

let direct =
  ("Lazy.force, computing", computing (fun f v -> f v) Lazy.force) :: direct

(* Code of another file than the callback that calls it. *)
let[@inline never] of_a_library box =
  let v = Mvar.take box in
  Sys.opaque_identity v
