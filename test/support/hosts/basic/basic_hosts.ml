open Test_host

let cancel_in_fifo f ~after =
  let task = Concord_fifo.fork f in
  after ();
  Concord_fifo.cancel task;
  Concord_fifo.join task

let fifo_with name cancellation =
  let fork f = ignore (Concord_fifo.fork f : Concord_fifo.handle) in
  {
    name;
    reported = "fifo";
    run =
      (fun body ->
        Concord_fifo.run ~cancellation (fun () ->
            body { fork; pause = Concord_fifo.yield }));
    cancel = Some cancel_in_fifo;
  }

let fifo = fifo_with "Fifo" `Eager
let lazy_fifo = fifo_with "Fifo, lazy" `Lazy

(* A host whose tasks are started by [start] and ended by [join]. *)
let joining name start join =
  {
    name;
    reported = "";
    run =
      (fun body ->
        let all = ref [] in
        let fork f = all := start f :: !all in
        body { fork; pause = (fun () -> Unix.sleepf 0.001) };
        List.iter join !all);
    cancel = None;
  }

let threads = joining "thread" (fun f -> Thread.create f ()) Thread.join
let domains = joining "domain" Domain.spawn Domain.join

(* The pools that run now. A task that cancels another one need not have started it, so it does
   not know its own pool. *)
let running = Atomic.make []

let submit_to_any f =
  let w = List.hd (Atomic.get running) in
  Concord.Workers.submit_stoppable w (fun _ -> f ())

let cancel_job f ~after =
  let open Concord in
  let ended, cancel = submit_to_any f in
  after ();
  ignore (cancel () : bool);
  match Promise.await_result ended with
  | Ok () | Error Workers.Cancelled -> ()
  | Error e -> raise e

let workers_of name domains =
  let open Concord in
  let update f = Tools.Structure_kit.update running f in
  {
    name;
    reported = "workers";
    run =
      (fun body ->
        Workers.with_workers ~domains @@ fun w ->
        update (List.cons w);
        Fun.protect ~finally:(fun () -> update (List.filter (( != ) w)))
        @@ fun () ->
        let all = ref [] in
        let fork f = all := Workers.submit w f :: !all in
        body { fork; pause = Tasks.yield };
        List.iter Promise.await !all);
    cancel = Some cancel_job;
  }

let workers = workers_of "workers" 2
let one_worker = workers_of "one worker" 1
