module Host_kit = Concord.Tools.Host_kit
module Structure_kit = Concord.Tools.Structure_kit
module Decision = Host_kit.Decision
module Leaks = Concord.Private.Leaks
module Suspend = Concord.Tools.Suspend
module Locals = Concord.Private.Locals

let name = Loop.name

exception In_callback

let () =
  Printexc.register_printer (function
    | In_callback ->
        Some
          ("Concord_lwt.In_callback: a direct-style operation has to wait, but \
            was called in a callback of Lwt, which cannot wait. Use the \
            operation of that name in Concord_lwt (Concord_lwt.Mvar.take for \
            Mvar.take, Concord_lwt.sync for Event.sync), or run the code in \
            Concord_lwt.direct or Lwt_direct.spawn"
          ^ Concord.Private.Names.advice "Concord_lwt")
    | _ -> None)

(* --- One wait ------------------------------------------------------------- *)

(* The caller of a resumer decides, or Lwt's thread. Lwt's thread does so if [block] returned a
   value or raised, or if [Lwt.cancel] rejected the promise. [Lwt.cancel] can reject it
   although an outcome was decided before, and has not arrived yet. So the task reads the
   decision before it continues. Nothing else rejects the promise, except that in [wait] an
   outcome may be an exception. *)
(* The outcome that was decided before. If there was none, [otherwise] is decided. *)
let outcome decision otherwise =
  if Decision.decide decision otherwise then otherwise
  else Decision.outcome decision

(* The promise has no value. It only says that there is an outcome in [decision]. *)
let resumer decision woken waker =
  Loop.resumer decision woken waker (fun _ -> Ok ())

let suspend ~protected ~late ~cancelled block go_on =
  let decision = Decision.create () in
  let woken, waker = if protected then Lwt.wait () else Lwt.task () in
  let go_on_woken () = go_on (Decision.outcome decision) in
  let rejected e =
    if Decision.decide decision (Error e) then cancelled e
    else begin
      late e;
      go_on_woken ()
    end
  (* [Lwt.cancel] rejects a promise only once. So after each cancellation the code waits for
     another promise, which the next cancellation can reject. *)
  and wait_protected late =
    let rec wait () =
      Lwt.try_bind
        (fun () -> Lwt.protected woken)
        go_on_woken
        (fun e ->
          late e;
          wait ())
    in
    wait ()
  in
  match block (fun outcome -> resumer decision woken waker outcome) with
  | Some v -> go_on (outcome decision (Ok v))
  | exception e -> go_on (outcome decision (Error e))
  | None when protected -> wait_protected late
  | None -> Lwt.try_bind (fun () -> woken) go_on_woken rejected

let conclude operation t w = function
  | Ok v -> Lwt.return v
  | Error e ->
      Structure_kit.withdraw operation t w;
      Lwt.fail e

let[@inline never] block_kept target woken block resumer =
  let block, ended =
    Concord.Private.Observer.operation ~host:name target block
  in
  Lwt.on_any woken (fun _ -> ended None) (fun e -> ended (Some e));
  block resumer

(* The same as [suspend] with less code between Lwt and the structure, because here the outcome
   itself is the value of the promise. *)
let wait ~late operation t w result =
  let decision = Decision.create () in
  let woken, waker = Lwt.task () in
  let result = function Ok v -> Ok (result v) | Error _ as error -> error in
  let resumer = Loop.resumer decision woken waker result in
  let rejected e =
    if Decision.decide decision (Error e) then conclude operation t w (Error e)
    else
      match Decision.outcome decision with
      | Ok v when operation.Structure_kit.undo t w.Structure_kit.arg v ->
          Lwt.fail e
      | outcome -> (
          match result outcome with
          | Ok v -> late v e
          | Error _ as error -> conclude operation t w error)
  in
  let block resumer =
    Structure_kit.block operation t w (Leaks.guard_operation resumer)
  in
  match
    if Concord.Private.Observer.takes_slow_path () then
      let target = Concord.Private.Operation.target operation t in
      block_kept target woken block resumer
    else block resumer
  with
  | Some v -> conclude operation t w (result (outcome decision (Ok v)))
  | exception e -> conclude operation t w (result (outcome decision (Error e)))
  | None -> Lwt.catch (fun () -> woken) rejected

(* --- Direct style, outside of [direct] ------------------------------------ *)

let host = Host_kit.create ()

(* The caller is a task of [Lwt_direct] or a plain callback. The effect of [Lwt_direct]
   suspends a task, and is unhandled in a callback. A task performs the effect even if it need
   not wait, because that shows which host it has (see [Host_kit.probe] and [Host_kit.plugin]).
   *)
let in_task_or_callback (type a) (block : a Suspend.resumer -> a option) : a =
  let decision = Decision.create () in
  let woken, waker = Lwt.wait () in
  let at_once = ref false in
  let outcome =
    match block (fun outcome -> resumer decision woken waker outcome) with
    | Some v ->
        at_once := true;
        outcome decision (Ok v)
    | None -> Decision.outcome decision
    | exception e ->
        at_once := true;
        outcome decision (Error e)
  in
  let backtrace = Printexc.get_raw_backtrace () in
  let outcome =
    match Lwt_direct.await (if !at_once then Lwt.pause () else woken) with
    | () -> if !at_once then outcome else Decision.outcome decision
    | exception Effect.Unhandled _ when !at_once -> outcome
    | exception Effect.Unhandled _ ->
        ignore (Decision.decide decision (Error In_callback) : bool);
        Decision.outcome decision
  in
  match outcome with
  | Ok v -> v
  | Error In_callback -> Host_kit.refuse In_callback
  | Error e when !at_once -> Printexc.raise_with_backtrace e backtrace
  | Error e -> raise e

let is_in_task () =
  match Lwt_direct.yield () with
  | () -> true
  | exception Effect.Unhandled _ -> false

(* After a callback has called [exit], its loop never continues. So blocking the thread delays no
   other callback, and a function of [at_exit] may wait as in a thread without a scheduler. *)
let outside block =
  if Loop.is_over () && not (is_in_task ()) then
    Concord.Private.Asking.park_or_refuse In_callback block
  else in_task_or_callback block

(* [Lwt_main.run] registers no host, so this plug-in finds its tasks. Outside of a loop's
   turns, a thread waits as any other thread does. *)
let () =
  let or_elsewhere f x =
    if Loop.is_in_turn () then f x else raise_notrace Host_kit.Elsewhere
  in
  let who () = Concord.Private.(Who_is.asked_or (fun () -> Who.unknown name)) in
  let plugin =
    Host_kit.
      {
        name;
        sample = None;
        takes_every_effect = false;
        suspend = (fun block -> or_elsewhere outside block);
        protect = (fun f -> or_elsewhere f ());
        scopes = None;
      }
  in
  Host_kit.plug_in ~who:(or_elsewhere who) plugin;
  Concord.Tasks.cancels_by (function Lwt.Canceled -> true | _ -> false);
  let bindings : Locals.bindings Lwt.key = Lwt.new_key () in
  let slot is_here =
    let value () = Lwt.get bindings in
    let read () =
      if is_here () then value () else raise_notrace Host_kit.Elsewhere
    in
    Locals.
      {
        read;
        within = (fun values f -> Lwt.with_value bindings (Some values) f);
        kept = Some value;
      }
  in
  (* [run] registers a scheduler, but [Lwt_main.run] doesn't. *)
  Locals.add ~plugin (slot Loop.is_in_turn);
  Locals.add (slot (fun () -> Loop.is_running () && Host_kit.is_innermost host))

(* --- Storage ---------------------------------------------------------------- *)

(* Lwt's storage is one variable, which Lwt sets before it calls a callback. [Lwt_direct] uses
   it in the same way. *)
module Storage = Lwt.Private.Sequence_associated_storage
[@@alert "-trespassing"]

(* Direct code may begin before the loop has had a turn, so [Loop.is_in_turn] would be wrong here.
   It has performed an effect by then, so its thread owns Lwt's state. *)
let () =
  let save () =
    let storage = !Storage.current_storage in
    fun () -> if Loop.is_owner () then Storage.current_storage := storage
  in
  Concord.Private.Context.add (fun () ->
      if Loop.is_owner () then Some save else None)

let no_key : unit Lwt.key = Lwt.new_key ()

module Host = struct
  let name = name
end

include
  Concord.Tools.Monadic.Make_named
    (Host)
    (struct
      type 'a t = 'a Lwt.t

      let return = Lwt.return
      let fail e (_ : Printexc.raw_backtrace) = Lwt.fail e
      let bind = Lwt.bind
      let try_bind = Lwt.try_bind
      let at_once = Loop.at_once

      (* [run] calls its function before the loop has a turn, but is the innermost host. *)
      let turn () =
        if
          Concord.Private.Strict.is_on
          && not (Loop.is_running () && Host_kit.is_innermost host)
        then Loop.check_host ();
        Loop.turn ()

      let enter = Loop.enter
      let suspend = suspend
      let wait = wait

      (* [Lwt.with_value] restores the whole storage, not only its key. *)
      let isolate f = Lwt.with_value no_key None f
      let host () = if Loop.is_running () then Some host else None
    end)

let run f =
  let f = Locals.carry f in
  Loop.run @@ fun () ->
  Host_kit.using ~outside host @@ fun () -> Lwt_main.run (f ())

(* --- Promises ------------------------------------------------------------- *)

let to_lwt = Promise.await

let of_lwt lwt =
  Loop.enter ();
  let promise = Concord.Promise.create () in
  Lwt.on_any lwt
    (fun v -> ignore (Promise.try_fill promise v : bool))
    (fun e -> ignore (Promise.try_fail promise e : bool));
  promise

(* --- Jobs from elsewhere --------------------------------------------------- *)

exception No_loop = Jobs.No_loop

let post = Calls.post

(* --- A loop on a domain of its own ------------------------------------------ *)

type 'r loop = 'r Loop_domain.t

let the_loop = Loop_domain.whichever
let call = Loop_domain.call

(* Reports don't list this wait, because it isn't one of the program's. *)
let await_unlisted promise =
  let block resumer =
    Concord.Promise.on_resolve promise (fun _ ->
        ignore (resumer (Ok ()) : bool));
    None
  in
  suspend ~protected:false ~late:ignore ~cancelled:Lwt.fail block (function
    | Ok () -> Lwt.return_unit
    | Error e -> Lwt.fail e)

let with_domain ?grace ?close create f =
  Loop_domain.with_domain ~run ~await:await_unlisted ?grace ?close create f

(* --- Streams of Lwt --------------------------------------------------------- *)

let to_lwt_stream event =
  Lwt_stream.from (fun () ->
      Lwt.try_bind
        (fun () -> sync event)
        Lwt.return_some
        (function Concord.Mailbox.Closed -> Lwt.return_none | e -> Lwt.fail e))

(* An item is removed from [lwt_stream] only after it was added to [stream], so that a
   cancellation loses none. *)
let feed stream lwt_stream =
  let rec pump () =
    Lwt.bind (Lwt_stream.peek lwt_stream) @@ function
    | None -> Lwt.return_unit
    | Some item ->
        Lwt.bind (Stream.add stream item) (fun () ->
            Lwt.bind (Lwt_stream.junk lwt_stream) pump)
  in
  Lwt.try_bind pump
    (fun () ->
      Stream.close stream;
      Lwt.return_unit)
    (function
      | Stream.Closed -> Lwt.return_unit
      | e ->
          Stream.close stream;
          Lwt.fail e)
