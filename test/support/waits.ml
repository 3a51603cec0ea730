open Concord

type 'ok t = {
  wait : unit -> 'ok;
  waiters : unit -> int;
  wake : unit -> unit;
  kept : unit -> bool;
  passed : unit -> bool;
  remembers : bool;
  one_by_one : bool;
}

(* --- From the table of the operations --------------------------------------- *)

(* The value that the waiter gives. *)
let own = 7

let of_operation map { Operations.service; remembers; make; _ } wait =
  (* The value of the first wake, which is the same in each structure. *)
  let given = (make 1).wake () in
  let kept =
    match service with
    | (Takes | Shares | Passes) when remembers -> [ given ]
    | _ -> []
  in
  let passed =
    match service with
    | Takes | Meets -> []
    | Gives | Passes -> [ own ]
    | Shares -> if remembers then [ given ] else []
  in
  fun () ->
    let place = make 1 in
    {
      wait = (fun () -> map (( = ) given) (wait place own));
      waiters = place.waiters;
      wake = (fun () -> ignore (place.wake () : int));
      kept = (fun () -> place.left () = kept);
      passed = (fun () -> place.left () = passed);
      remembers;
      one_by_one = service = Takes || service = Gives;
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

let never event =
  [ Event.never; event; Event.wrap (Event.timeout infinity) (fun () -> 0) ]

(* --- What the table doesn't have -------------------------------------------- *)

(* The computation waits. *)
let computing map force () =
  let p = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await p) in
  {
    wait = (fun () -> map (( = ) 1) (force t));
    waiters = (fun () -> Promise.waiters p);
    wake = (fun () -> Promise.fill p 1);
    kept = (fun () -> (not (Lazy.is_val t)) && Lazy.force t = 1);
    passed = (fun () -> Lazy.is_val t);
    remembers = true;
    one_by_one = false;
  }

let direct () =
  ("Lazy.force, computing", computing (fun f v -> f v) Lazy.force)
  :: each
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

let for_promise wait =
  let p = Promise.create () in
  let is_filled () = Promise.peek p = Some (Ok 1) in
  {
    wait = (fun () -> wait p);
    waiters = (fun () -> Promise.waiters p);
    wake = (fun () -> Promise.fill p 1);
    kept = is_filled;
    passed = is_filled;
    remembers = true;
    one_by_one = false;
  }

module Make (S : Operations.Style) = struct
  module Table = Operations.Make (S)

  (* The mutex is locked until the wake. *)
  let condition () =
    let m = Mutex.create () and c = Condition.create () in
    Mutex.lock m;
    {
      wait =
        (fun () -> S.map (fun () -> Mutex.is_locked m) (S.Condition.wait c m));
      waiters = (fun () -> Condition.waiters c);
      wake = (fun () -> Condition.signal c);
      kept = (fun () -> Mutex.is_locked m);
      passed = (fun () -> Mutex.is_locked m);
      remembers = false;
      one_by_one = true;
    }

  let all () =
    [
      ("Lazy.force, computing", computing S.map S.Lazy.force);
      ("Lazy.force_val, computing", computing S.map S.Lazy.force_val);
      ("Condition.wait", condition);
    ]
    @ each S.map Table.all [ ("", wait, false) ]
    @ each S.map Operations.all
        [
          (", direct", (fun place v -> S.direct (fun () -> wait place v)), false);
          (", sync", with_event S.sync, true);
          (", select", with_event (fun e -> S.select (never e)), true);
          ( ", sync_before",
            with_event (fun e -> S.map Option.get (S.sync_before 100. e)),
            true );
        ]
end
