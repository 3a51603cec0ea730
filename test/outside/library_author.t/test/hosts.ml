(* A task of each host waits for what a thread does, and the thread does it when other tasks of the
   host have run meanwhile. So a host whose thread is blocked comes to the deadline. *)

open Concord

type scene = { tally : Tally.t; ticks : int Atomic.t; is_over : bool Atomic.t }

let deadline = 10.

(* The scene's types are the library's, and the mutex and the promise are Concord's. *)
let scene () =
  let mutex : Mutex.t = Mutex.create () in
  let tally = Tally.create ~mutex ~at_once:1 () in
  { tally; ticks = Atomic.make 0; is_over = Atomic.make false }

let wait { tally; is_over; _ } =
  Tally.add tally ignore;
  Tally.await tally 2;
  let closed : unit Promise.t = Tally.closed tally in
  Event.sync (Promise.await_evt closed);
  ignore (Tally.closes_within deadline tally : bool);
  Atomic.set is_over true

let tick { ticks; is_over; _ } =
  Atomic.incr ticks;
  not (Atomic.get is_over)

let rec has_ticked scene n until =
  Atomic.get scene.ticks >= n
  || Unix.gettimeofday () < until
     &&
     (Thread.delay 0.001;
      has_ticked scene n until)

let report name run =
  let scene = scene () in
  let partner () =
    let until = Unix.gettimeofday () +. deadline in
    Tally.await scene.tally 1;
    let n = Atomic.get scene.ticks in
    let first = has_ticked scene (n + 3) until in
    Tally.add scene.tally ignore;
    let second = has_ticked scene (n + 6) until in
    Tally.close scene.tally;
    if first && second then "others ran meanwhile" else "NO OTHER TASK RAN"
  in
  let result = Promise.in_thread partner in
  run scene;
  Printf.printf "%s: %s\n%!" name (Promise.await result)

let rec while_ pause scene =
  if tick scene then (
    pause ();
    while_ pause scene)

let () =
  report "Eio" (fun scene ->
      Eio_main.run (fun _ ->
          Eio.Fiber.both
            (fun () -> wait scene)
            (fun () -> while_ Eio.Fiber.yield scene)));
  report "Lwt_direct" (fun scene ->
      let rec ticking () =
        if tick scene then Lwt.bind (Lwt.pause ()) ticking else Lwt.return_unit
      in
      Lwt_main.run
        (Lwt.join [ Lwt_direct.spawn (fun () -> wait scene); ticking () ]));
  report "Fifo" (fun scene ->
      Concord_fifo.run (fun () ->
          ignore (Concord_fifo.fork (fun () -> wait scene) : _);
          while_ Concord_fifo.yield scene));
  report "Domainslib" (fun scene ->
      let open Domainslib in
      (* More tasks wait than the pool has domains. *)
      let pool = Task.setup_pool ~num_domains:1 () in
      let until_closed () = Promise.await (Tally.closed scene.tally) in
      let turn () = Task.await pool (Task.async pool ignore) in
      Task.run pool (fun () ->
          [
            until_closed;
            until_closed;
            (fun () -> wait scene);
            (fun () -> while_ turn scene);
          ]
          |> List.map (Task.async pool)
          |> List.iter (Task.await pool));
      Task.teardown_pool pool);
  report "aio" (fun scene ->
      let from, to_ = Unix.pipe ~cloexec:true () in
      let turn () =
        ignore (Concord_aio.write_substring to_ "." 0 1 : int);
        ignore (Concord_aio.read from (Bytes.create 1) 0 1 : int);
        Concord_fifo.yield ()
      in
      Concord_aio.run (fun () ->
          ignore (Concord_fifo.fork (fun () -> wait scene) : _);
          while_ turn scene);
      List.iter Unix.close [ from; to_ ]);
  report "threads" (fun scene ->
      let waiting = Thread.create wait scene in
      while_ Thread.yield scene;
      Thread.join waiting)
