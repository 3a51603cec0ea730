open Concord_testkit
open Host

let caught f =
  match f () with
  | v -> Ok v
  | exception e -> Error (e, Printexc.get_raw_backtrace ())

let released = function
  | Ok v -> v
  | Error (e, backtrace) -> Printexc.raise_with_backtrace e backtrace

(* For hosts that can't cancel. *)
module Without_cancellation = struct
  let cancel = None
  let is_cancellation _ = false
end

let blocks = ("inside", "run blocks the thread of the task that calls it")
let locks = ("signals", "a resumer takes the lock of its queue")
let no_backtraces = ("backtraces", "an exception of block loses its backtrace")

module Fifo = struct
  let name = "Concord_fifo"

  type t = unit
  type task = Concord_fifo.handle

  let run f = Concord_fifo.run f
  let spawn () = Concord_fifo.fork
  let yield = Concord_fifo.yield
  let cancel = Some (fun () task -> Concord_fifo.cancel task)
  let is_cancellation = function Concord_fifo.Cancelled -> true | _ -> false
  let not_offered = []
end

let fifo : (module HOST) = (module Fifo)

let lazy_fifo : (module HOST) =
  (module struct
    include Fifo

    let name = "Concord_fifo, lazy"
    let run f = Concord_fifo.run ~cancellation:`Lazy f
  end)

module Main_thread = struct
  include Without_cancellation

  let name = "the main thread"

  type t = unit
  type task = Thread.t

  let run f = f ()
  let spawn () f = Thread.create f ()
  let yield = Thread.yield
  let not_offered = [ blocks ]
end

let main_thread : (module HOST) = (module Main_thread)

let threads : (module HOST) =
  (module struct
    include Main_thread

    let name = "system threads"

    let run f =
      let outcome = ref None in
      Thread.join (Thread.create (fun () -> outcome := Some (caught f)) ());
      released (Option.get !outcome)
  end)

let domains : (module HOST) =
  (module struct
    include Without_cancellation

    let name = "domains"

    type t = unit Domain.t list Atomic.t
    type task = unit

    (* An exception of a domain is only raised where the domain is joined. *)
    let rec join t =
      match Atomic.exchange t [] with
      | [] -> ()
      | spawned ->
          List.iter Domain.join spawned;
          join t

    let run f =
      let t = Atomic.make [] in
      let outcome =
        Domain.join (Domain.spawn (fun () -> caught (fun () -> f t)))
      in
      join t;
      released outcome

    let spawn t f =
      let domain = Domain.spawn f in
      let rec add () =
        let before = Atomic.get t in
        if not (Atomic.compare_and_set t before (domain :: before)) then add ()
      in
      add ()

    let yield = Domain.cpu_relax
    let not_offered = [ blocks ]
  end)

let workers : (module HOST) =
  (module struct
    open Concord

    let name = "Workers"

    type task = unit Promise.t * (unit -> bool)
    type t = { workers : Workers.t; tasks : task list Atomic.t }

    let rec add t task =
      let before = Atomic.get t.tasks in
      if not (Atomic.compare_and_set t.tasks before (task :: before)) then
        add t task

    let spawn t f =
      let task = Workers.submit_stoppable t.workers (fun _ -> f ()) in
      add t task;
      task

    let is_cancellation = function
      | Workers.Cancelled | Workers.Lost -> true
      | _ -> false

    (* An exception of a job is only raised where its promise is awaited. *)
    let await (promise, _) =
      match Promise.await promise with
      | () -> ()
      | exception e when is_cancellation e -> ()

    let run f =
      let tasks = Atomic.make [] in
      let outcome =
        Workers.with_workers ~domains:2 ~grace:1. (fun workers ->
            Workers.run workers (fun () -> f { workers; tasks }))
      in
      List.iter await (Atomic.get tasks);
      outcome

    let yield = Tasks.yield
    let cancel = Some (fun _ (_, cancel) -> ignore (cancel () : bool))
    let not_offered = []
  end)

(* --- Styles --------------------------------------------------------------------- *)

module Style (S : sig
  val name : string
  val spawn : (unit -> unit) -> unit
  val start : unit -> unit
end) : HOST = struct
  include Without_cancellation

  let name = "styles, " ^ S.name

  type t = unit
  type task = unit

  let run f =
    let outcome = ref None in
    S.spawn (fun () -> outcome := Some (caught f));
    S.start ();
    released (Option.get !outcome)

  let spawn () = S.spawn
  let yield = Concord.Tasks.yield

  let not_offered =
    [
      no_backtraces;
      ("nested", "a thread of a style cannot start this style's loop");
    ]
end

let style name spawn start : (module HOST) =
  (module Style (struct
    let name = name
    let spawn = spawn
    let start = start
  end))

let direct name (module S : Concord_styles.Direct) = style name S.spawn S.start

let trampolined name (module S : Concord_styles.Trampolined) =
  style name (fun f -> S.spawn (fun () -> S.direct f ignore)) S.start

let monadic name (module S : Concord_styles.Monadic) =
  style name (fun f -> S.spawn (fun () -> S.direct f)) S.start

let styles =
  let open Concord_styles in
  [
    direct "threads" (module Threads);
    direct "callcc" (module Callcc);
    direct "delimited" (module Delimited);
    trampolined "trampoline" (module Trampoline);
    monadic "continuation" (module Continuation);
    monadic "promise" (module Promise);
    trampolined "events" (module Events);
  ]

(* --- Policies ------------------------------------------------------------------- *)

(* A task that can be cancelled alone has its own scope. *)
module Policy (S : Concord_policies.S) = struct
  open Concord

  type t = Scope.t
  type task = Scope.t Promise.t

  let run f = S.run (fun () -> Scope.run f)

  let spawn t f =
    let task = Promise.create () in
    let body scope =
      Promise.fill task scope;
      f ()
    in
    Scope.fork t (fun () -> try Scope.run body with Scope.Cancelled -> ());
    task

  let yield = Tasks.yield
  let cancel = Some (fun _ task -> Scope.cancel (Promise.await task))

  let is_cancellation = function
    | Concord_policies.Cancelled -> true
    | _ -> false

  let not_offered = []
end

let policy name (module S : Concord_policies.S) : (module HOST) =
  (module struct
    include Policy (S)

    let name = "policies, " ^ name
  end)

let policies =
  let open Concord_policies in
  [
    policy "Fifo" (module Fifo);
    policy "Lifo" (module Lifo);
    policy "Levels" (module Levels);
    policy "Deadline" (module Deadline);
  ]

(* --- Loops within loops ------------------------------------------------------------ *)

(* The clauses that depend on the outer loop. *)
let of_outer (clause, _) =
  List.mem clause
    [ "backtraces"; "inside"; "nested"; "domains"; "idle"; "signals" ]

module Within (Outer : HOST) (Inner : HOST) = struct
  include Inner

  let name = Inner.name ^ " in " ^ Outer.name
  let run f = Outer.run (fun _ -> Inner.run f)
  let not_offered = Inner.not_offered @ List.filter of_outer Outer.not_offered
end

module In_domain (H : HOST) = struct
  include H

  let name = H.name ^ " in a domain"
  let not_offered = blocks :: H.not_offered

  let run f =
    released (Domain.join (Domain.spawn (fun () -> caught (fun () -> H.run f))))
end

(* --- Tests --------------------------------------------------------------------------- *)

let test ?only:(clauses, some = ([], [])) ?(in_table = []) hosts =
  let passes (host, only) =
    let report = Host.check ~seconds:20. ?only host in
    let missing Report.{ clause; verdict; _ } =
      match verdict with
      | Not_offered _ -> Some clause
      | Kept | Broken _ -> None
    in
    if Report.passed report then
      Printf.printf "%s (seed %d): passed; not offered: %s\n%!" report.subject
        report.seed
        (String.concat ", " (List.filter_map missing report.lines))
    else Report.print report;
    Report.passed report
  in
  let tests only = List.map (fun host -> (declare host, only)) in
  let hosts =
    if Concord_test_support.Race.long then in_table @ hosts else hosts
  in
  (* All of them are declared, because the process of a clause may draw others. *)
  let all = tests (Some clauses) some @ tests None hosts in
  let drawn = Concord_test_support.Race.drawn all in
  if not (List.for_all Fun.id (List.map passes drawn)) then exit 1
