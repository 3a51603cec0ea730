open Concord
open Concord.Tools
open Host_kit
open Effect.Deep
module Timer = Private.Timer
module Reach = Private.Reach
module Context = Private.Context
module Locals = Private.Locals
open Tree

exception Cancelled

let () =
  Concord.Tasks.cancels_by (function Cancelled -> true | _ -> false);
  Printexc.register_printer (function
    | Cancelled -> Some "Concord_policies.Cancelled"
    | _ -> None)

module type S = sig
  type priority

  val run : ?priority:priority -> (unit -> 'a) -> 'a
  val with_priority : priority -> (unit -> 'a) -> 'a
end

module Make (P : Policy.S) = struct
  type priority = P.priority

  (* --- The loop ---------------------------------------------------------------------- *)

  type task = P.priority Tree.task
  type message = { task : task; reason : Policy.reason; turn : unit -> unit }

  type t = {
    host : Host_kit.t;
    inbox : message Inbox.t;
    mutable ready : task P.t;
    mutable current : task option;
        (** The task that runs, until it waits or ends. *)
    mutable foreign : (unit -> unit) option;
        (** Performs an effect of a task on the loop's own stack, for a handler
            around the loop. *)
    mutable bell : unit Suspend.resumer;
    mutable interruption : (exn * Printexc.raw_backtrace) option;
        (** An exception from which the loop has to {!recover}. *)
    mutable failure : (exn * Printexc.raw_backtrace) option;
        (** If it is set, all tasks were cancelled. *)
    mutable turns : int;
    host_turn : Turn.t;
    spin : Spin.t;
    context : Context.t;
        (** What the host keeps for the task in which this scheduler runs. *)
    kept : Locals.place option;
        (** Where the host keeps the values of that task. *)
    root : P.priority scope;
  }

  let wake t () = ignore (t.bell (Ok ()) : bool)

  let post t message =
    match Inbox.post t.inbox message with
    | Refused | Posted -> ()
    | Posted_to_sleeper -> wake t ()

  let queue t { task; reason; turn } =
    task.turn <- turn;
    P.add t.ready task.priority reason task

  let rec drain t = if Inbox.serve t.inbox (queue t) then drain t

  (* While tasks keep the domain busy, the timers' thread would be late. So the loop runs
     timers too. *)
  let serve_timers t =
    t.turns <- t.turns + 1;
    if t.turns land 63 = 0 && not (Timer.is_idle ()) then Timer.run_due ()

  (* If tasks are always ready, the host's other tasks run from time to time. *)
  let let_host_run t =
    if Option.is_none t.foreign && Turn.add_task t.host_turn then begin
      Turn.begin_ t.host_turn;
      if Option.is_none t.failure then
        t.foreign <- Some Concord.Private.Asking.let_host_run
    end

  let rec serve t () =
    serve_timers t;
    drain t;
    match P.take t.ready with
    | None -> ()
    | Some task ->
        task.turn ();
        t.current <- None;
        let_host_run t;
        if Option.is_none t.foreign then serve t ()

  let perform_foreign t =
    Option.iter (fun perform -> perform ()) t.foreign;
    t.foreign <- None

  let is_ready t () = not (Inbox.is_empty t.inbox && P.is_empty t.ready)

  (* After a failure, the loop must still wait for protected tasks. If the host can't protect
     its task, it raises again, and then the thread waits. *)
  let sleep t =
    let block resumer =
      t.bell <- resumer;
      if Inbox.fall_asleep t.inbox then None else Some ()
    in
    let suspend () =
      if Option.is_none t.failure then Reach.suspend_loop block
      else
        try Suspend.protect (fun () -> Reach.suspend_loop block) with
        | Suspend.Never_resumed as e -> raise_notrace e
        | _ -> suspend_thread block
    in
    suspend ();
    Turn.begin_ t.host_turn;
    Inbox.wake_up t.inbox

  let fail t failure =
    if Option.is_none t.failure then t.failure <- Some failure;
    cancel t.root

  (* A signal handler or the host has raised. The task that was running is lost, because the
     effect handler had its continuation. Tasks in [ready] may be lost too, but each task knows
     its turn, so all of them are added again. If nothing is left that could resume a task,
     protected tasks have to be unwound too. *)
  let recover t ((e, _) as interruption) =
    Inbox.wake_up t.inbox;
    Option.iter end_task t.current;
    t.current <- None;
    t.ready <- P.create ();
    iter (fun task -> P.add t.ready task.priority Resumed task) t.root;
    fail t interruption;
    if e == Suspend.Never_resumed then iter (fun task -> task.give_up ()) t.root;
    t.interruption <- None

  let rec loop t =
    Option.iter (recover t) t.interruption;
    using t.host (serve t);
    perform_foreign t;
    if t.root.live > 0 then begin
      if not (is_ready t () || Spin.until t.spin (is_ready t)) then sleep t;
      loop t
    end

  let rec run_to_end t =
    match loop t with
    | () -> ()
    | exception e ->
        if Option.is_none t.interruption then
          t.interruption <- Some (e, Printexc.get_raw_backtrace ());
        run_to_end t

  (* --- The effects of tasks --------------------------------------------------------- *)

  type _ Effect.t +=
    | Priority : priority -> priority Effect.t
    | Fork : P.priority scope * (unit -> unit) -> bool Effect.t

  let go_on k = function Ok v -> continue k v | Error e -> discontinue k e

  (* There is no polling point between the write of [t.current] and the task, so a signal handler
     always finds the task that it interrupts. *)
  let turn_of t k outcome =
    let current = t.current and restore = Context.save t.context in
    fun () ->
      let outcome = outcome () in
      restore ();
      t.current <- current;
      try go_on k outcome with Effect.Continuation_already_resumed -> ()

  let suspend t task block k =
    match
      if is_cancelled task then raise_notrace Cancelled;
      let decision = Decision.create () in
      let turn = turn_of t k (fun () -> Decision.outcome decision) in
      let message _ =
        let reason : Policy.reason =
          if Atomic.get task.in_block then Yielded else Resumed
        in
        { task; reason; turn }
      in
      let resumer = Inbox.resumer t.inbox ~wake:(wake t) decision message in
      let weak = weakly resumer in
      task.give_up <- (fun () -> ignore (weak (Error Cancelled) : bool));
      Atomic.set task.in_block true;
      let outcome = Decision.offer decision resumer block in
      Atomic.set task.in_block false;
      outcome
    with
    | outcome when Decision.is_undecided outcome -> t.current <- None
    | Ok v -> continue k v
    | Error e | (exception e) ->
        (* [block] has raised, so its backtrace is kept. *)
        discontinue_with_backtrace k e (Printexc.get_raw_backtrace ())

  let perform_elsewhere t task e k =
    match
      let outcome = ref None in
      let turn = turn_of t k (fun () -> Option.get !outcome) in
      let perform () =
        if Option.is_none !outcome then
          outcome := Some (try Ok (Effect.perform e) with e -> Error e);
        post t { task; reason = Resumed; turn }
      in
      Some perform
    with
    | foreign ->
        t.foreign <- foreign;
        t.current <- None
    | exception e -> discontinue k e

  let answer k f =
    match f () with v -> continue k v | exception e -> discontinue k e

  let shield task =
    task.shields <- task.shields + 1;
    fun () -> task.shields <- task.shields - 1

  let set_priority task priority =
    let before = task.priority in
    task.priority <- priority;
    before

  let who task () =
    match task.who with
    | Some who -> who
    | None ->
        let who = Who.make ~host:("policies, " ^ P.name) ~name:"a task" task in
        task.who <- Some who;
        who

  (* Waits until all tasks of the scope have ended. The result is the first exception by which
     the waiting task was cancelled, if any. *)
  let rec wait_for_end scope ~protected =
    let wait () =
      Suspend.suspend (fun resumer ->
          if scope.live = 0 then Some ()
          else begin
            scope.on_end <- Some resumer;
            None
          end)
    in
    match if protected then Suspend.protect wait else wait () with
    | () -> None
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        cancel scope;
        ignore (wait_for_end scope ~protected:true : _ option);
        Some (e, backtrace)

  let fork_into scope f =
    let refuse () =
      invalid_arg "Scope.fork: the calling task is outside of the scope"
    in
    match Effect.perform (Fork (scope, f)) with
    | true -> ()
    | false -> refuse ()
    | exception Effect.Unhandled (Fork _) -> refuse ()

  let in_scope owner body =
    let scope =
      create_scope
        ~around:(Some (innermost owner))
        ~owner:(Some owner) ~depth:owner.shields
    in
    let handle =
      Concord_suspend.
        { fork = fork_into scope; cancel = (fun () -> cancel scope) }
    in
    owner.scopes <- scope :: owner.scopes;
    let outcome =
      match body handle with
      | v -> Ok v
      | exception e -> Error (e, Printexc.get_raw_backtrace ())
    in
    scope.in_body <- false;
    let interrupted = wait_for_end scope ~protected:false in
    owner.scopes <- List.filter (fun other -> other != scope) owner.scopes;
    match (outcome, interrupted) with
    | Ok v, None -> v
    | Error (e, backtrace), _ | Ok _, Some (e, backtrace) ->
        Printexc.raise_with_backtrace e backtrace

  let rec fork t parent scope f =
    if is_cancelled parent then raise_notrace Cancelled;
    is_within scope (innermost parent)
    && begin
      start t scope parent.priority f;
      true
    end

  and start t scope priority f =
    let task = create_task scope priority in
    let current = Some task
    and begun = ref false
    and restore = Context.save t.context in
    let body () =
      begun := true;
      t.current <- current;
      f ()
    in
    let turn () =
      restore ();
      if not !begun then match_with body () (handler t task)
    in
    add_member scope task;
    match post t { task; reason = Forked; turn } with
    | () -> ()
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        end_task task;
        Printexc.raise_with_backtrace e backtrace

  and handle : type a. t -> task -> a Effect.t -> (a, unit) continuation -> unit
      =
   fun t task e k ->
    match e with
    | Suspend.Suspend block -> suspend t task block k
    | Suspend.Protect -> answer k (fun () -> shield task)
    | Suspend.Scopes ->
        answer k (fun () ->
            { Concord_suspend.scope = (fun body -> in_scope task body) })
    | Suspend.Ask { question = Locals.Where; otherwise } ->
        answer k (fun () -> Option.value t.kept ~default:otherwise)
    | Suspend.Ask { question; otherwise } ->
        answer k (fun () -> Who.answer question ~otherwise (who task))
    | Fork (scope, f) -> answer k (fun () -> fork t task scope f)
    | Priority priority -> answer k (fun () -> set_priority task priority)
    | _ -> perform_elsewhere t task e k

  and handler t task =
    let effc (type a) (e : a Effect.t) =
      Some
        (fun (k : (a, unit) continuation) ->
          if is_innermost t.host then handle t task e k
          else discontinue k (Effect.Unhandled e))
    in
    let exnc e =
      let failure = (e, Printexc.get_raw_backtrace ()) in
      end_task task;
      fail t failure
    in
    { retc = (fun () -> end_task task); exnc; effc }

  (* --- For users ---------------------------------------------------------------------- *)

  let run ?(priority = P.default) main =
    let main = Locals.carry main in
    let root = create_scope ~around:None ~owner:None ~depth:0 in
    let t =
      {
        host = create ();
        inbox = Inbox.create ();
        ready = P.create ();
        current = None;
        foreign = None;
        bell = (fun _ -> false);
        interruption = None;
        failure = None;
        turns = 0;
        host_turn = Turn.create ();
        spin = Spin.create ();
        context = Context.here ();
        kept = Locals.kept ();
        root;
      }
    in
    let result = ref None and restore = ref (Context.save t.context) in
    let main () =
      Fun.protect
        (fun () -> result := Some (main ()))
        ~finally:(fun () -> restore := Context.save t.context)
    in
    start t root priority main;
    run_to_end t;
    (* The caller continues as if it had called [main] itself. *)
    !restore ();
    match (t.failure, !result) with
    | Some (e, backtrace), _ -> Printexc.raise_with_backtrace e backtrace
    | None, Some v -> v
    | None, None -> assert false (* because [main] has ended without raising *)

  let set priority =
    try Effect.perform (Priority priority)
    with Effect.Unhandled (Priority _) ->
      Printf.ksprintf invalid_arg
        "Concord_policies.with_priority: called outside of the tasks of this \
         scheduler (%s)"
        P.name

  let with_priority priority f =
    let before = set priority in
    Fun.protect f ~finally:(fun () -> ignore (set before : priority))
end
