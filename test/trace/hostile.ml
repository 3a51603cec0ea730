(* Programs that are unkind to tracing and metrics. Each must end as it would without them. *)

open Concord
open Concord.Tools

let seconds = 0.1

let for_a_while f =
  let until = Unix.gettimeofday () +. seconds in
  while Unix.gettimeofday () < until do
    f ()
  done

let pass n =
  Concord_fifo.run (fun () ->
      let there = Mvar.create_empty ~name:"there" ()
      and back = Mvar.create_empty ~name:"back" () in
      let task =
        Concord_fifo.fork (fun () ->
            for _ = 1 to n do
              Mvar.take there;
              Mvar.put back ()
            done)
      in
      for _ = 1 to n do
        Mvar.put there ();
        Mvar.take back
      done;
      Concord_fifo.join task)

let look () =
  ignore (Metrics.to_openmetrics (Metrics.snapshot ()) : string);
  ignore (Debug.report () : Debug.report)

let domains () =
  for _ = 1 to 5 do
    List.init 8 (fun _ -> Domain.spawn (fun () -> pass 5))
    |> List.iter Domain.join
  done

(* Structures are collected while another domain reads their numbers. *)
let collected () =
  let over = Atomic.make false in
  let loop f () =
    while not (Atomic.get over) do
      f ()
    done
  in
  let reader = Domain.spawn (loop look)
  and collector = Thread.create (loop Gc.full_major) () in
  for_a_while (fun () ->
      let mailbox = Mailbox.create ~name:"dropped" () in
      Mailbox.add mailbox ();
      Pool.use (Pool.create ~name:"dropped" 2 ignore) ignore;
      Stream.add (Debug.named "dropped" (Stream.create 2)) ());
  Atomic.set over true;
  Domain.join reader;
  Thread.join collector

let finalised () =
  for_a_while (fun () ->
      let mailbox = Mailbox.create ~name:"finalised" () in
      Gc.finalise
        (fun mailbox ->
          Mailbox.add mailbox ();
          Trace.mark "finalised";
          look ())
        mailbox;
      pass 1)

let forks () =
  let box = Mvar.create_empty ~name:"box" () in
  let thread = Thread.create Mvar.take box in
  while Mvar.waiters box = 0 do
    Thread.yield ()
  done;
  match Unix.fork () with
  | 0 ->
      pass 100;
      look ();
      exit 3
  | child ->
      let status = snd (Unix.waitpid [] child) in
      Mvar.put box ();
      Thread.join thread;
      if status <> WEXITED 3 then exit 4

let exits () =
  let last name =
    pass 10;
    Trace.mark name;
    look ()
  in
  at_exit (fun () -> last "exit");
  Domain.join
    (Domain.spawn (fun () -> Domain.at_exit (fun () -> last "domain")));
  ignore (Thread.create (fun () -> Mvar.take (Mvar.create_empty ())) ());
  (* This domain still works when the program has ended. *)
  ignore (Domain.spawn (fun () -> pass 1_000_000) : unit Domain.t);
  Concord_fifo.run (fun () ->
      ignore (Concord_fifo.fork (fun () -> pass 2) : Concord_fifo.handle);
      Concord_fifo.yield ();
      print_endline "exits";
      exit 6)

(* The handlers look at what they interrupt, and some raise. In the end nobody waits. *)
let signals () =
  let signals = ref 0 in
  let handler _ =
    incr signals;
    look ();
    if !signals mod 3 = 0 then raise Exit
  in
  let every it_interval =
    ignore
      (Unix.setitimer ITIMER_REAL { it_interval; it_value = it_interval }
        : Unix.interval_timer_status)
  in
  let rec quietly f = try f () with Exit -> quietly f in
  Sys.set_signal Sys.sigalrm (Signal_handle handler);
  every 0.001;
  for_a_while (fun () -> try pass 2 with Exit | Fun.Finally_raised Exit -> ());
  quietly (fun () ->
      every 0.;
      Sys.set_signal Sys.sigalrm Signal_ignore);
  List.iter
    (fun (w : Metrics.wait) ->
      if w.waiting <> 0 then
        Printf.printf "%d wait in %s\n" w.waiting w.operation)
    (Metrics.snapshot ()).waits

let toggles () =
  let over = Atomic.make false in
  let toggle () =
    while not (Atomic.get over) do
      Trace.stop ();
      Trace.start ()
    done
  in
  let domains = List.init 2 (fun _ -> Domain.spawn toggle) in
  for_a_while (fun () -> pass 5);
  Atomic.set over true;
  List.iter Domain.join domains

let names () =
  let name = String.make 1_000_000 'n' ^ "\t\n\255</script>" in
  let box = Mvar.create_empty ~name () in
  let thread = Thread.create Mvar.take box in
  while Mvar.waiters box = 0 do
    Thread.yield ()
  done;
  Trace.mark name;
  look ();
  Mvar.put box ();
  Thread.join thread

let modes =
  [
    ("domains", domains);
    ("collected", collected);
    ("finalised", finalised);
    ("forks", forks);
    ("exits", exits);
    ("signals", signals);
    ("toggles", toggles);
    ("names", names);
  ]

let () =
  Metrics.start ();
  let mode = Sys.argv.(1) in
  (List.assoc mode modes) ();
  print_endline mode
