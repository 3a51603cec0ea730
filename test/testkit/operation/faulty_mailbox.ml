module Lock = Stdlib.Mutex
open Concord.Tools
open Concord_testkit

exception Closed

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
  | Keeps_served
  | Remembers_line
  | Loses_neighbours
  | Counts_refusals_twice
  | Its_end_stops
  | Prefers_latecomers
  | Loses_after_four
  | One_for_each_domain
  | One_for_each_thread
  | One_for_each_thread_later
  | Looks_then_enlists
  | Looks_then_keeps

type waiter = { resumer : int Suspend.resumer }

type state = {
  mutable items : int list;  (** Oldest first, like the waiters. *)
  mutable waiters : waiter list;
}

type mailbox = {
  lock : Lock.t;
  home : Domain.id;
  home_thread : int;
  fault : fault;
  states : (int, state) Hashtbl.t;
  mutable closed : bool;
  mutable busy : bool;
  mutable arrivals : int;
  mutable leavers : int;
  mutable refusals : int;
  mutable served : waiter list;
}

let create fault _ =
  {
    lock = Lock.create ();
    home = Domain.self ();
    home_thread = Thread.id (Thread.self ());
    fault;
    states = Hashtbl.create 1;
    closed = false;
    busy = false;
    arrivals = 0;
    leavers = 0;
    refusals = 0;
    served = [];
  }

let state t =
  let key =
    match t.fault with
    | One_for_each_domain -> (Domain.self () :> int)
    | One_for_each_thread -> Thread.id (Thread.self ())
    | One_for_each_thread_later
      when t.arrivals > 8 && Thread.id (Thread.self ()) <> t.home_thread ->
        Thread.id (Thread.self ())
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

let must_wait t =
  Lock.protect t.lock (fun () -> (state t).items = [] && not t.closed)

let enlist t state w =
  t.arrivals <- t.arrivals + 1;
  match t.fault with
  | Last_come_first_served -> state.waiters <- w :: state.waiters
  | Prefers_latecomers when t.arrivals > 8 ->
      state.waiters <- w :: state.waiters
  | _ -> state.waiters <- state.waiters @ [ w ]

(* If it [Loses_neighbours], the next waiter in a long line leaves as well. *)
let rec without t w = function
  | first :: others when first != w -> first :: without t w others
  | _ :: _ :: others when t.fault = Loses_neighbours && List.length others > 50
    ->
      others
  | _ :: others -> others
  | [] -> []

let leave t w =
  Lock.protect t.lock @@ fun () ->
  if t.fault <> Keeps_leavers then
    Hashtbl.iter
      (fun _ state -> state.waiters <- without t w state.waiters)
      t.states;
  t.leavers <- t.leavers + 1

let try_take t = Lock.protect t.lock (fun () -> attempt t (state t))

let take t =
  match try_take t with
  | Some v -> v
  | None -> (
      let mine = ref None and line = ref [] in
      let block resumer =
        if t.fault = Remembers_line then line := (state t).waiters;
        let w = { resumer } in
        let is_ready = t.fault = Looks_then_enlists && not (must_wait t) in
        Lock.protect t.lock @@ fun () ->
        let state = state t in
        let found =
          match t.fault with
          | Does_not_look -> None
          | Looks_then_enlists when not is_ready -> None
          | _ -> attempt t state
        in
        if found = None || t.fault = Registers_and_returns then begin
          mine := Some w;
          enlist t state w
        end;
        found
      in
      try
        let v = Suspend.suspend block in
        ignore (Sys.opaque_identity !line : waiter list);
        v
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
  if not resumed then t.refusals <- t.refusals + 1;
  if t.fault = Keeps_served then t.served <- w :: t.served;
  if t.fault = Resumes_twice && resumed then ignore (w.resumer (Ok v) : bool);
  resumed || t.fault = Ignores_refusals

let rec put t v =
  match t.fault with
  | Loses_after_four
    when t.leavers >= 4 && t.arrivals < 99 && Domain.self () = t.home ->
      ()
  | Resumes_under_lock ->
      let again =
        Lock.protect t.lock @@ fun () ->
        match next_waiter t v with
        | None -> false
        | Some w -> not (resume t w v)
      in
      if again then put t v
  | Looks_then_keeps when Lock.protect t.lock (fun () -> (state t).waiters = [])
    ->
      Lock.protect t.lock @@ fun () ->
      let state = state t in
      state.items <- state.items @ [ v ]
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

(* The first exception is raised when all have been resumed. *)
let rec resume_all resume = function
  | [] -> ()
  | first :: others -> (
      match resume first with
      | () -> resume_all resume others
      | exception e ->
          (try resume_all resume others with _ -> ());
          raise e)

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
  let raise_closed w = ignore (w.resumer (Error Closed) : bool) in
  if t.fault = Its_end_stops then List.iter raise_closed waiters
  else resume_all raise_closed waiters

let count t =
  Lock.protect t.lock @@ fun () ->
  List.length (state t).waiters
  +
  match t.fault with
  | Does_not_count_leavers -> t.leavers
  | Counts_refusals_twice -> -t.refusals
  | _ -> 0

let operation fault : (module Operation.OPERATION) =
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
