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
