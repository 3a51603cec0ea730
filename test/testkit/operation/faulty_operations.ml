module Lock = Stdlib.Mutex
open Concord
open Concord_testkit

exception Closed

(* --- A mailbox, of nothing but the contract ---------------------------------------- *)

type fault =
  | Nothing
  | Registers_and_returns
  | Resumes_under_lock
  | Does_not_look
  | Resumes_two
  | Ignores_refusals
  | Raises_another
  | Last_come_first_served
  | Resumes_twice
  | Is_busy_for_ever
  | Does_not_count_leavers
  | Forgets_who_waits
  | Keeps_leavers
  | Prefers_latecomers
  | Loses_after_four
  | One_for_each_domain
  | One_for_each_thread

type waiter = { resumer : int Suspend.resumer }

type state = {
  mutable items : int list;  (** The oldest one first, as the waiters. *)
  mutable waiters : waiter list;
}

type mailbox = {
  lock : Lock.t;
  home : Domain.id;
  fault : fault;
  states : (int, state) Hashtbl.t;
  mutable closed : bool;
  mutable busy : bool;
  mutable arrivals : int;
  mutable leavers : int;
}

let create fault _ =
  {
    lock = Lock.create ();
    home = Domain.self ();
    fault;
    states = Hashtbl.create 1;
    closed = false;
    busy = false;
    arrivals = 0;
    leavers = 0;
  }

let state t =
  let key =
    match t.fault with
    | One_for_each_domain -> (Domain.self () :> int)
    | One_for_each_thread -> Thread.id (Thread.self ())
    | _ -> 0
  in
  match Hashtbl.find_opt t.states key with
  | Some state -> state
  | None ->
      let state = { items = []; waiters = [] } in
      Hashtbl.add t.states key state;
      state

let attempt t state =
  match state.items with
  | v :: items ->
      state.items <- items;
      Some v
  | [] -> if t.closed then raise Closed else None

let enlist t state w =
  t.arrivals <- t.arrivals + 1;
  match t.fault with
  | Last_come_first_served -> state.waiters <- w :: state.waiters
  | Prefers_latecomers when t.arrivals > 8 ->
      state.waiters <- w :: state.waiters
  | _ -> state.waiters <- state.waiters @ [ w ]

let leave t w =
  Lock.protect t.lock @@ fun () ->
  let others v = v != w in
  if t.fault <> Keeps_leavers then
    Hashtbl.iter
      (fun _ state -> state.waiters <- List.filter others state.waiters)
      t.states;
  t.leavers <- t.leavers + 1

let try_take t = Lock.protect t.lock (fun () -> attempt t (state t))

let take t =
  match try_take t with
  | Some v -> v
  | None -> (
      let mine = ref None in
      let block resumer =
        let w = { resumer } in
        Lock.protect t.lock @@ fun () ->
        let state = state t in
        let found = if t.fault = Does_not_look then None else attempt t state in
        if found = None || t.fault = Registers_and_returns then begin
          mine := Some w;
          enlist t state w
        end;
        found
      in
      try Suspend.suspend block
      with e ->
        let backtrace = Printexc.get_raw_backtrace () in
        Option.iter (leave t) !mine;
        if t.fault = Raises_another then failwith "interrupted";
        Printexc.raise_with_backtrace e backtrace)

let next_waiter t v =
  let state = state t in
  match state.waiters with
  | w :: waiters when not t.busy ->
      state.waiters <- waiters;
      Some w
  | _ ->
      state.items <- state.items @ [ v ];
      None

let resume t w v =
  let resumed = w.resumer (Ok v) in
  if t.fault = Resumes_twice && resumed then ignore (w.resumer (Ok v) : bool);
  resumed || t.fault = Ignores_refusals

let rec put t v =
  match t.fault with
  | Loses_after_four when t.leavers >= 4 && Domain.self () = t.home -> ()
  | Resumes_under_lock ->
      let again =
        Lock.protect t.lock @@ fun () ->
        match next_waiter t v with
        | None -> false
        | Some w -> not (resume t w v)
      in
      if again then put t v
  | _ -> (
      match Lock.protect t.lock (fun () -> next_waiter t v) with
      | None -> ()
      | Some w ->
          if t.fault = Is_busy_for_ever then t.busy <- true;
          let resumed = resume t w v in
          t.busy <- false;
          if not resumed then put t v
          else if t.fault = Resumes_two then
            Option.iter
              (fun w -> ignore (resume t w v : bool))
              (Lock.protect t.lock (fun () ->
                   match (state t).waiters with
                   | [] -> None
                   | _ :: _ -> next_waiter t v)))

let finish t =
  let waiters =
    Lock.protect t.lock @@ fun () ->
    t.closed <- true;
    let state = state t in
    let waiters = state.waiters in
    if t.fault = Forgets_who_waits then []
    else begin
      state.waiters <- [];
      waiters
    end
  in
  List.iter (fun w -> ignore (w.resumer (Error Closed) : bool)) waiters

let count t =
  Lock.protect t.lock @@ fun () ->
  List.length (state t).waiters
  + if t.fault = Does_not_count_leavers then t.leavers else 0

let mailbox fault : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = mailbox

    let name = "take"
    let service = Operation.Takes
    let create = create fault
    let wait t _ = take t

    let release t v =
      put t v;
      0

    let interruptible = true
    let waiters = Some count
    let close = Some (Closed, finish)
  end)

(* --- A promise, likewise ------------------------------------------------------------- *)

type outcome = Value of int | Failed of exn * Printexc.raw_backtrace

type promise = {
  mutex : Lock.t;
  mutable outcome : outcome option;
  mutable readers : unit Suspend.resumer list;  (** The last one first. *)
}

let value ~keeps_backtrace = function
  | Value v -> v
  | Failed (e, backtrace) ->
      if keeps_backtrace then Printexc.raise_with_backtrace e backtrace
      else raise e

let rec await ~keeps_backtrace t =
  match t.outcome with
  | Some outcome -> value ~keeps_backtrace outcome
  | None ->
      let mine = ref None in
      let block resumer =
        Lock.protect t.mutex @@ fun () ->
        if t.outcome <> None then Some ()
        else begin
          mine := Some resumer;
          t.readers <- resumer :: t.readers;
          None
        end
      in
      (try Suspend.suspend block
       with e ->
         let backtrace = Printexc.get_raw_backtrace () in
         Lock.protect t.mutex (fun () ->
             let others reader =
               match !mine with Some mine -> reader != mine | None -> true
             in
             t.readers <- List.filter others t.readers);
         Printexc.raise_with_backtrace e backtrace);
      await ~keeps_backtrace t

let resolve t outcome =
  let readers =
    Lock.protect t.mutex @@ fun () ->
    t.outcome <- Some outcome;
    let readers = List.rev t.readers in
    t.readers <- [];
    readers
  in
  List.iter (fun resumer -> ignore (resumer (Ok ()) : bool)) readers

let promise ~keeps_backtrace : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = promise

    let name = "await"
    let service = Operation.Shares
    let create _ = { mutex = Lock.create (); outcome = None; readers = [] }
    let wait t _ = await ~keeps_backtrace t

    let release t v =
      resolve t (Value v);
      0

    let fail = Some (fun t e backtrace -> resolve t (Failed (e, backtrace)))
  end)

(* --- An event ------------------------------------------------------------------------ *)

(* It takes before it is known whether it is chosen. *)
let hasty t =
  Event.guard (fun () ->
      match Mailbox.try_take t with
      | Some v -> Event.always v
      | None -> Mailbox.take_evt t)

let mail take_evt : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = int Mailbox.t

    let name = "Mailbox.take"
    let service = Operation.Takes
    let create _ = Mailbox.create ()
    let wait t _ = Mailbox.take t

    let release t v =
      Mailbox.put t v;
      0

    let event = Some (fun t _ -> take_evt t)
  end)

(* --- All ------------------------------------------------------------------------------- *)

let sound =
  [
    ("a mailbox", mailbox Nothing);
    ("a promise", promise ~keeps_backtrace:true);
    ("an event", mail Mailbox.take_evt);
  ]

let faulty =
  let of_mailbox (title, fault, clauses) = (title, mailbox fault, clauses) in
  List.map of_mailbox
    [
      ("it registers, and returns a value", Registers_and_returns, [ "S1" ]);
      ("it resumes under its lock", Resumes_under_lock, [ "lock" ]);
      ("it registers without a look", Does_not_look, [ "look"; "close" ]);
      ( "it resumes two for one",
        Resumes_two,
        [ "one"; "S2"; "S3"; "S4"; "close"; "fair" ] );
      ("it ignores refusals", Ignores_refusals, [ "S2" ]);
      ("it raises another exception", Raises_another, [ "S3"; "close" ]);
      ("last come, first served", Last_come_first_served, [ "S4"; "fair" ]);
      ("it resumes twice", Resumes_twice, [ "once" ]);
      ("it is left busy", Is_busy_for_ever, [ "signal" ]);
      ("it counts those who left", Does_not_count_leavers, [ "count" ]);
      ("its end forgets those who wait", Forgets_who_waits, [ "close" ]);
      ("it keeps those who left", Keeps_leavers, [ "count"; "memory" ]);
      ("latecomers go first", Prefers_latecomers, [ "fair" ]);
      ( "on its domain it loses all after four have left",
        Loses_after_four,
        [ "storm" ] );
      ("one for each domain", One_for_each_domain, [ "domains" ]);
      ("one for each thread", One_for_each_thread, [ "domains"; "threads" ]);
    ]
  @ [
      ( "an exception loses its backtrace",
        promise ~keeps_backtrace:false,
        [ "S5" ] );
      ("its event takes too early", mail hasty, [ "choice" ]);
    ]
