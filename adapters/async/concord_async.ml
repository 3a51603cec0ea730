module Deferred = Async.Deferred
module Ivar = Async.Ivar
module Monitor = Async.Monitor
module Scheduler = Async_kernel.Async_kernel_scheduler
module Suspend = Concord.Tools.Suspend
module Host_kit = Concord.Tools.Host_kit
module Decision = Host_kit.Decision
module Locals = Concord.Private.Locals

let name = "async"

exception In_job

let () =
  Printexc.register_printer (function
    | In_job ->
        Some
          ("Concord_async.In_job: a direct-style operation has to wait, but \
            was called in a job of Async, which cannot wait. Use the operation \
            of that name in Concord_async (Concord_async.Mvar.take for \
            Mvar.take, Concord_async.sync for Event.sync), or run the code in \
            Concord_async.direct"
          ^ Concord.Private.Names.advice "Concord_async")
    | _ -> None)

(* --- One wait ------------------------------------------------------------- *)

let suspend block go_on =
  let decision = Decision.create () in
  let resumed = Ivar.create () in
  let resumer = Inbox.resumer decision resumed in
  let outcome = Decision.offer decision resumer block in
  if Decision.is_undecided outcome then
    Deferred.bind (Ivar.read resumed) ~f:go_on
  else go_on outcome

(* --- Direct style, outside of [direct] ------------------------------------ *)

(* The caller is a job, which can't be suspended. So this raises [In_job] unless [block] has an
   outcome at once. *)
let refuse (type a) (block : a Suspend.resumer -> a option) : a =
  let decision = Decision.create () in
  let decide = Decision.decide decision in
  match Decision.offer decision decide block with
  | Ok v -> v
  | Error _ as outcome when Decision.is_undecided outcome -> (
      if decide (Error In_job) then Host_kit.refuse In_job
      else match Decision.outcome decision with Ok v -> v | Error e -> raise e)
  | Error e ->
      (* [block] raised it, so the raw backtrace is that of [block]. *)
      Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())

(* After a job has called [exit], as [Async.shutdown] does, Async never continues. So blocking
   the thread delays no other job, and a function of [at_exit] may wait as in a thread without
   a scheduler. *)
let outside block =
  if Inbox.has_exited () then Concord.Private.Asking.park_or_refuse In_job block
  else refuse block

let host = Host_kit.create ()
let this_thread () = Thread.id (Thread.self ())

(* [going] is the thread that is in [go], or [no_thread]. *)
let no_thread = -1
let going = Atomic.make no_thread

let go ?raise_unhandled_exn () =
  Atomic.set going (this_thread ());
  Inbox.enter ();
  Host_kit.using ~outside host (fun () ->
      Async.Scheduler.go ?raise_unhandled_exn ())

(* Async may also run jobs in other threads than [go]'s, or it may have been started without
   [go]. Without this plug-in, an operation there would park its thread, and Async with it. *)
let () =
  let or_elsewhere f x =
    if Inbox.is_in_async () then f x else raise_notrace Host_kit.Elsewhere
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
  let key = Core.Univ_map.Key.create ~name:"concord" Core.sexp_of_opaque in
  let value () = Scheduler.find_local key in
  let slot is_here =
    let read () =
      if is_here () then value () else raise_notrace Host_kit.Elsewhere
    in
    Locals.
      {
        read;
        within = (fun values f -> Scheduler.with_local key (Some values) ~f);
        kept = Some value;
      }
  in
  (* [go] registers a scheduler, but [Async.Scheduler.go] doesn't. *)
  Locals.add ~plugin (slot Inbox.is_in_async);
  Locals.add
    (slot (fun () ->
         Atomic.get going = this_thread () && Host_kit.is_innermost host))

(* --- The execution context -------------------------------------------------- *)

let save_context () =
  let context = Scheduler.current_execution_context () in
  fun () ->
    if Inbox.is_here () then Scheduler.Expert.set_execution_context context

let () =
  Concord.Private.Context.add (fun () ->
      if Inbox.is_here () then Some save_context else None)

(* --- The structures ------------------------------------------------------- *)

(* Threads that must not touch Async's state may call these operations too. There, an operation
   that need not wait is performed, and one that fails raises. *)
module Host = struct
  let name = name
end

include
  Concord.Tools.Monadic.Make_plain_named
    (Host)
    (struct
      type 'a t = 'a Deferred.t

      let return = Deferred.return

      let fail e backtrace =
        if Inbox.is_here () then begin
          Monitor.send_exn (Monitor.current ()) e ~backtrace:(`This backtrace);
          Deferred.never ()
        end
        else Printexc.raise_with_backtrace e backtrace

      let bind t f =
        match Deferred.peek t with Some v -> f v | None -> Deferred.bind t ~f

      (* [Closed] is unwrapped, because callers recognise the end of a queue by it. Other
         exceptions stay in the monitor's, which says where they were raised. *)
      let closed_or e =
        match Monitor.extract_exn e with
        | Concord.Mailbox.Closed as closed -> closed
        | _ -> e

      let try_bind f return fail =
        match Inbox.enter () with
        | exception e -> fail e
        | () ->
            Deferred.bind (Monitor.try_with ~run:`Now ~rest:`Raise f)
              ~f:(function
              | Ok v -> return v
              | Error e -> fail (closed_or e))

      (* Async has no cancellation, so [protected] makes no difference. Operations that need
         not wait aren't counted either, because Async serves timers and input between its
         cycles, however many jobs are ready. *)
      let enter = Inbox.enter
      let suspend ~protected:_ block go_on = suspend block go_on

      (* [f] may change the execution context, and be suspended before it restores it. *)
      let isolate f =
        if Inbox.is_here () then begin
          let restore = save_context () in
          match f () with
          | t ->
              restore ();
              t
          | exception e ->
              let backtrace = Printexc.get_raw_backtrace () in
              restore ();
              Printexc.raise_with_backtrace e backtrace
        end
        else f ()

      let host () =
        if Atomic.get going = this_thread () then Some host else None
    end)

(* --- Promises ------------------------------------------------------------- *)

let to_deferred = Promise.await

let of_deferred deferred =
  Inbox.enter ();
  let promise = Concord.Promise.create () in
  Deferred.upon deferred (fun v -> ignore (Promise.try_fill promise v : bool));
  promise

(* --- Jobs from elsewhere --------------------------------------------------- *)

let post f =
  let f = Locals.carry f in
  let promise = Concord.Promise.create () in
  Inbox.post (fun ~finally ->
      Deferred.upon
        (Monitor.try_with ~run:`Now ~rest:`Raise ~extract_exn:true f)
        (fun result ->
          finally ();
          ignore
            (match result with
             | Ok v -> Promise.try_fill promise v
             | Error e -> Promise.try_fail promise e
              : bool)));
  promise

(* --- Deferreds as events --------------------------------------------------- *)

(* One wait. [given_up] is filled when the wait has ended otherwise, and removes its handler
   from the deferred. *)
type 'a determining = {
  deferred : 'a Deferred.t;
  mutable given_up : unit Ivar.t;
}

let determining =
  {
    Concord.Tools.Structure_kit.default with
    name = "Deferred";
    how =
      By_hand
        {
          attempt = (fun t () -> Deferred.peek t.deferred);
          enlist =
            (fun t w ->
              (not (Deferred.is_determined t.deferred))
              && begin
                t.given_up <- Ivar.create ();
                let first =
                  Deferred.choose
                    [
                      Deferred.choice t.deferred Option.some;
                      Deferred.choice (Ivar.read t.given_up) (fun () -> None);
                    ]
                in
                Deferred.upon first
                  (Option.iter (fun v ->
                       ignore
                         (Concord.Tools.Structure_kit.Waiter.resume w (Ok v)
                           : bool)));
                true
              end);
          withdraw = (fun t _ -> Ivar.fill_if_empty t.given_up ());
        };
  }

let determined deferred =
  Concord.Event.guard @@ fun () ->
  Inbox.enter ();
  Concord.Event.make determining { deferred; given_up = Ivar.create () } ()

(* --- Time ------------------------------------------------------------------ *)

let before seconds event =
  Deferred.map (sync_before seconds event) ~f:(function
    | Some v -> `Result v
    | None -> `Timeout)

module Clock = struct
  let timeout span = Concord.Event.timeout (Core.Time_float.Span.to_sec span)
  let with_timeout span event = before (Core.Time_float.Span.to_sec span) event
end

module Clock_ns = struct
  let timeout span = Concord.Event.timeout (Core.Time_ns.Span.to_sec span)
  let with_timeout span event = before (Core.Time_ns.Span.to_sec span) event
end

(* --- Pipes ------------------------------------------------------------------ *)

module Pipe = Async.Pipe

(* [next] is [None] at the end, whichever side has ended. *)
let to_pipe event =
  Pipe.create_reader ~close_on_exception:true @@ fun writer ->
  let next =
    Concord.Event.choose
      [
        Concord.Event.wrap event Option.some;
        Concord.Event.wrap (determined (Pipe.closed writer)) (fun () -> None);
      ]
  in
  let next () =
    direct (fun () ->
        match Concord.Event.sync next with
        | item -> item
        | exception Concord.Mailbox.Closed -> None)
  in
  let rec pump () =
    if Pipe.is_closed writer then Deferred.return ()
    else
      Deferred.bind (next ()) ~f:(function
        | None -> Deferred.return ()
        | Some _ when Pipe.is_closed writer -> Deferred.return ()
        | Some item -> Deferred.bind (Pipe.write writer item) ~f:pump)
  in
  pump ()

let feed stream reader =
  let add item =
    direct (fun () ->
        match Concord.Stream.add stream item with
        | () -> true
        | exception Concord.Stream.Closed -> false)
  in
  let rec pump () =
    Deferred.bind (Pipe.values_available reader) ~f:(function
      | `Eof ->
          Concord.Stream.close stream;
          Deferred.return ()
      | `Ok -> (
          match Pipe.peek reader with
          | None -> pump ()
          | Some item ->
              Deferred.bind (add item) ~f:(fun added ->
                  if added then begin
                    ignore (Pipe.read_now reader);
                    pump ()
                  end
                  else begin
                    Pipe.close_read reader;
                    Deferred.return ()
                  end)))
  in
  pump ()
