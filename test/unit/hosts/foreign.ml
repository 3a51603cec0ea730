(* Schedulers that know nothing of Concord, and a plug-in for each. They perform effects of
   their own, don't register themselves, and block their thread while no task is ready. *)

open Effect.Deep
module Suspend = Concord.Tools.Suspend
module Host_kit = Concord.Tools.Host_kit

exception Cancelled

exception Taken of string
(** Raised for an effect that the scheduler doesn't know. *)

type task = {
  mutable is_cancelled : bool;
  mutable shields : int;
  mutable interrupt : unit -> unit;
}

module type Settings = sig
  val name : string
  val takes_every_effect : bool
end

module Make (Settings : Settings) () = struct
  open Settings

  type _ Effect.t +=
    | Self : task Effect.t
    | Stop : ((unit -> unit) -> unit) -> unit Effect.t
    | Fork : (unit -> unit) -> task Effect.t

  let run main =
    let mutex = Stdlib.Mutex.create ()
    and changed = Stdlib.Condition.create () in
    let ready = Queue.create () and live = ref 0 in
    let push go_on =
      Stdlib.Mutex.protect mutex (fun () -> Queue.push go_on ready);
      Stdlib.Condition.signal changed
    in
    let rec start f : task =
      let task = { is_cancelled = false; shields = 0; interrupt = ignore } in
      incr live;
      let effc (type a) (e : a Effect.t) :
          ((a, unit) continuation -> unit) option =
        match e with
        | Self -> Some (fun (k : (a, unit) continuation) -> continue k task)
        | Stop f ->
            Some
              (fun k ->
                let asleep = Atomic.make true in
                f (fun () ->
                    if Atomic.exchange asleep false then
                      push (fun () -> continue k ())))
        | Fork f ->
            Some
              (fun (k : (a, unit) continuation) -> continue k (start f : task))
        | e when takes_every_effect ->
            let name = Printexc.to_string (Effect.Unhandled e) in
            Some (fun _ -> raise (Taken name))
        | _ -> None
      and exnc = function Cancelled -> decr live | e -> raise e in
      push (fun () ->
          match_with f () { retc = (fun () -> decr live); exnc; effc });
      task
    in
    ignore (start main : task);
    while !live > 0 do
      let next () =
        while Queue.is_empty ready do
          Stdlib.Condition.wait changed mutex
        done;
        Queue.pop ready
      in
      (Stdlib.Mutex.protect mutex next) ()
    done

  let fork f = Effect.perform (Fork f)
  let yield () = Effect.perform (Stop (fun wake -> wake ()))

  let cancel task =
    task.is_cancelled <- true;
    if task.shields = 0 then task.interrupt ()

  let all fs =
    let latch = Concord.Latch.create (List.length fs) in
    let task f () =
      Fun.protect ~finally:(fun () -> Concord.Latch.count_down latch) f
    in
    List.iter (fun f -> ignore (fork (task f) : task)) fs;
    Concord.Latch.await latch

  (* --- The plug-in --------------------------------------------------------- *)

  let self () =
    match Effect.perform Self with
    | task -> task
    | exception Effect.Unhandled Self -> raise_notrace Host_kit.Elsewhere

  let check task = if task.is_cancelled && task.shields = 0 then raise Cancelled

  let suspend (type a) (block : a Suspend.resumer -> a option) : a =
    let task = self () in
    check task;
    let undecided = Error Exit in
    let outcome : (a, exn) result Atomic.t = Atomic.make undecided in
    let stop wake =
      let resumer o =
        Atomic.compare_and_set outcome undecided o
        && begin
          wake ();
          true
        end
      in
      task.interrupt <- (fun () -> ignore (resumer (Error Cancelled) : bool));
      match block resumer with
      | None -> ()
      | Some v -> ignore (resumer (Ok v) : bool)
      | exception e -> ignore (resumer (Error e) : bool)
    in
    Effect.perform (Stop stop);
    task.interrupt <- ignore;
    match Atomic.get outcome with Ok v -> v | Error e -> raise e

  let protect f =
    let task = self () in
    task.shields <- task.shields + 1;
    Fun.protect f ~finally:(fun () -> task.shields <- task.shields - 1)

  let plugin =
    Host_kit.
      {
        name;
        sample = None;
        takes_every_effect;
        suspend;
        protect;
        scopes = None;
      }

  let () = Host_kit.plug_in plugin

  (* Registers the scheduler. This is needed inside another scheduler's task, or with
     another scheduler in a task of its own. *)
  let run_registered main = Host_kit.using_plugin plugin (fun () -> run main)

  let cancelling =
    Concord_test_hosts.Cancelling.
      {
        run;
        fork =
          (fun f ->
            let task = fork (fun () -> try f () with Cancelled -> ()) in
            yield ();
            fun () -> cancel task);
        pause = yield;
        is_cancellation = (fun e -> e = Cancelled);
        protects = true;
      }
end
