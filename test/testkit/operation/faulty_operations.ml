module Lock = Stdlib.Mutex
open Concord
open Concord.Tools
open Concord_testkit

(* --- A promise, of nothing but the contract ------------------------------------------------------------- *)

type outcome = Value of int | Failed of exn * Printexc.raw_backtrace

type promise = {
  mutex : Lock.t;
  mutable outcome : outcome option;
  mutable readers : unit Suspend.resumer list;  (** Latest first. *)
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

let resolve ~stops t outcome =
  let readers =
    Lock.protect t.mutex @@ fun () ->
    t.outcome <- Some outcome;
    let readers = List.rev t.readers in
    t.readers <- [];
    readers
  in
  let resume resumer = ignore (resumer (Ok ()) : bool) in
  if stops then List.iter resume readers
  else Faulty_mailbox.resume_all resume readers

let promise ?(keeps_backtrace = true) ?(stops = false) () :
    (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = promise

    let name = "await"
    let service = Operation.Shares
    let create _ = { mutex = Lock.create (); outcome = None; readers = [] }
    let wait t _ = await ~keeps_backtrace t

    let release t v =
      resolve ~stops t (Value v);
      0

    let interruptible = true

    let fail =
      Some (fun t e backtrace -> resolve ~stops t (Failed (e, backtrace)))
  end)

(* --- An event ------------------------------------------------------------------------ *)

(* It takes a value before it is known whether the event is chosen. *)
let hasty t _ =
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
      Mailbox.add t v;
      0

    let event = Some take_evt
  end)

(* A task can't have two of its events in one choice. *)
let once : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = { mailbox : int Mailbox.t; mutable last : int }

    let name = "Mailbox.take"
    let service = Operation.Takes
    let create _ = { mailbox = Mailbox.create (); last = 0 }
    let wait t _ = Mailbox.take t.mailbox

    let release t v =
      Mailbox.add t.mailbox v;
      0

    let event =
      Some
        (fun t number ->
          Event.guard (fun () ->
              if t.last = number then failwith "it waits already";
              t.last <- number;
              Mailbox.take_evt t.mailbox))
  end)

(* --- All ------------------------------------------------------------------------------- *)

let sound =
  [
    ("a mailbox", Faulty_mailbox.(operation Nothing));
    ("a promise", promise ());
    ("an event", mail (fun t _ -> Mailbox.take_evt t));
    ("two sides", Faulty_rendezvous.trade ~looks:true);
    ("two sides, by hand", Faulty_by_hand.(operation Nothing));
    ("a bounded queue", Faulty_bounded.(operation Nothing));
  ]

let faulty =
  let of_mailbox (title, fault, clauses) =
    (title, Faulty_mailbox.operation fault, clauses)
  in
  List.map of_mailbox
    Faulty_mailbox.
      [
        ("it registers, and returns a value", Registers_and_returns, [ "S1" ]);
        ("it resumes under its lock", Resumes_under_lock, [ "lock" ]);
        ( "it registers without checking again",
          Does_not_look,
          [ "look"; "close" ] );
        ( "it resumes two for one",
          Resumes_two,
          [ "one"; "S2"; "S3"; "S4"; "count"; "close"; "fair" ] );
        ("it ignores refusals", Ignores_refusals, [ "S2"; "S4"; "count" ]);
        ("it raises another exception", Raises_another, [ "S3"; "close" ]);
        ("last come, first served", Last_come_first_served, [ "S4"; "fair" ]);
        ("it resumes twice", Resumes_twice, [ "once" ]);
        ("it is left busy", Is_busy_for_ever, [ "signal" ]);
        ("it counts withdrawn waiters", Does_not_count_leavers, [ "count" ]);
        ("its end forgets the waiters", Forgets_who_waits, [ "close" ]);
        ("it keeps withdrawn waiters", Keeps_leavers, [ "count"; "memory" ]);
        ("it keeps served waiters", Keeps_served, [ "memory" ]);
        ("a task keeps the line before it", Remembers_line, [ "memory" ]);
        ( "a task that leaves a long line takes another with it",
          Loses_neighbours,
          [ "S4" ] );
        ( "it subtracts a task that refused twice",
          Counts_refusals_twice,
          [ "count" ] );
        ("its end stops at an exception", Its_end_stops, [ "close" ]);
        ("latecomers go first", Prefers_latecomers, [ "S4"; "fair" ]);
        ( "it loses all on its domain after four have left",
          Loses_after_four,
          [ "storm" ] );
        ("one for each domain", One_for_each_domain, [ "domains" ]);
        ("one for each thread", One_for_each_thread, [ "between" ]);
        ( "one for each thread, later",
          One_for_each_thread_later,
          [ "domains"; "threads" ] );
        ("it checks, then enlists", Looks_then_enlists, [ "between" ]);
        ("a release checks, then keeps", Looks_then_keeps, [ "between" ]);
      ]
  @ [
      ( "an exception loses its backtrace",
        promise ~keeps_backtrace:false (),
        [ "S5" ] );
      ("its release stops at an exception", promise ~stops:true (), [ "signal" ]);
      ("its event takes too early", mail hasty, [ "choice" ]);
      ("its event can't be twice in a choice", once, [ "choice" ]);
      ( "its two sides miss each other",
        Faulty_rendezvous.trade ~looks:false,
        [ "look" ] );
      ( "its enlist only checks is_empty",
        Faulty_by_hand.(operation Looks_at_is_empty),
        [ "sides" ] );
      ( "its enlist checks, then pushes",
        Faulty_by_hand.(operation Looks_then_enlists),
        [ "between" ] );
      ( "its bound grows with each waiter that leaves",
        Faulty_bounded.(operation Grows_by_leaving),
        [ "once"; "bound"; "memory" ] );
      ( "its bound grows with each waiter that refuses",
        Faulty_bounded.(operation Grows_by_refusing),
        [ "bound" ] );
      ( "its bound grows with each release in vain",
        Faulty_bounded.(operation Grows_by_takers),
        [ "bound" ] );
      ( "two tasks see the same free slot",
        Faulty_bounded.(operation Looks_then_adds),
        [ "between" ] );
    ]
