(* Hosts that cancel their tasks. *)

open Concord
open Concord_test_support
module Fifo = Concord_fifo

type host = {
  run : (unit -> unit) -> unit;
  fork : (unit -> unit) -> unit -> unit;
      (** Runs the function in a task until it waits. The result cancels the
          task. *)
  pause : unit -> unit;  (** Lets the tasks continue. *)
  is_cancellation : exn -> bool;
  protects : bool;  (** Whether it can defer a cancellation. *)
}

let until host what = Check.eventually ~pause:host.pause what

let hand =
  {
    run = (fun f -> f ());
    fork =
      (fun f ->
        let task = Hand.start f in
        fun () -> Hand.stop task);
    pause = Hand.settle;
    is_cancellation = (fun e -> e = Hand.Cancelled);
    protects = true;
  }

(* Tasks that were cancelled lazily are unwound when no task is ready. *)
let fifo cancellation =
  {
    run = (fun f -> Fifo.run ~cancellation f);
    fork =
      (fun f ->
        let h = Fifo.fork f in
        fun () -> Fifo.cancel h);
    pause = (fun () -> Event.sync (Event.timeout 0.0002));
    is_cancellation = (fun e -> e = Fifo.Cancelled);
    protects = true;
  }

(* One worker, which runs a job that was submitted before it continues the caller. *)
let workers =
  let current = ref None in
  {
    run =
      (fun f ->
        Workers.with_workers ~domains:1 (fun w ->
            current := Some w;
            Workers.run w f));
    fork =
      (fun f ->
        let _, cancel =
          Workers.submit_stoppable (Option.get !current) (fun _ -> f ())
        in
        Tasks.yield ();
        fun () -> ignore (cancel () : bool));
    pause = Tasks.yield;
    is_cancellation = (fun e -> e = Workers.Cancelled);
    protects = true;
  }

let eio ~protects =
  let switch = ref None in
  let run f =
    Eio_main.run @@ fun _ ->
    Eio.Switch.run @@ fun sw ->
    switch := Some sw;
    f ()
  in
  let fork f =
    let cancel = ref ignore in
    let body () =
      Eio.Cancel.sub (fun context ->
          (cancel := fun () -> Eio.Cancel.cancel context Exit);
          f ())
    in
    Eio.Fiber.fork ~sw:(Option.get !switch) (fun () ->
        try body () with Eio.Cancel.Cancelled _ -> ());
    fun () -> !cancel ()
  in
  {
    run;
    fork;
    pause = Eio.Fiber.yield;
    is_cancellation = (function Eio.Cancel.Cancelled _ -> true | _ -> false);
    protects;
  }
