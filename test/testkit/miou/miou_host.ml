module Make (Place : sig
  val name : string
  val run : (unit -> 'a) -> 'a
end) =
struct
  let name = Place.name

  (* Only the parent can cancel a task, and it has to await the task. So the main task starts,
     cancels and awaits all the others, which send it messages. *)
  type task = unit Miou.t option ref

  type message =
    | Start of task * (unit -> unit)
    | Cancel of task
    | Ended of task

  type t = { inbox : message Queue.t; mutable wakeup : Miou.Trigger.t }

  let send t message =
    Queue.push message t.inbox;
    Miou.Trigger.signal t.wakeup

  let rec receive t =
    match Queue.take_opt t.inbox with
    | Some message -> message
    | None ->
        t.wakeup <- Miou.Trigger.create ();
        ignore (Miou.Trigger.await t.wakeup);
        receive t

  let start t task f =
    let body () = Fun.protect f ~finally:(fun () -> send t (Ended task)) in
    task := Some (Miou.async body)

  (* The exception of a cancelled task is discarded. *)
  let rec serve t running =
    if running > 0 then
      match receive t with
      | Start (task, f) ->
          start t task f;
          serve t (running + 1)
      | Cancel ({ contents = Some promise } as task)
        when Miou.Promise.state promise = Running ->
          task := None;
          Miou.cancel promise;
          serve t (running - 1)
      | Ended ({ contents = Some promise } as task) ->
          task := None;
          Miou.await_exn promise;
          serve t (running - 1)
      | Cancel { contents = None } | Ended { contents = None } | Cancel _ ->
          serve t running

  let spawn t f =
    let task = ref None in
    send t (Start (task, f));
    task

  let run f =
    Place.run @@ fun () ->
    let t = { inbox = Queue.create (); wakeup = Miou.Trigger.create () } in
    let outcome = ref None in
    let first () = outcome := Some (f t) in
    start t (ref None) first;
    serve t 1;
    Option.get !outcome

  let yield = Miou.yield
  let cancel = Some (fun t task -> send t (Cancel task))
  let is_cancellation = function Miou.Cancelled -> true | _ -> false

  let not_offered =
    [
      ("inside", "Miou.run blocks the domain");
      ("protect", "Miou cannot defer a cancellation");
      ("nested", "Miou runs one loop");
      ("domains", "Miou runs one loop, which owns the other domains");
    ]
end

include Make (struct
  let name = "Miou"
  let run f = Concord_miou.run f
end)
