(* An actor that runs a scheduler, and the actors that are its tasks. *)

open Actor

(* Either the processes are threads of one domain, which push to the loop's ring, or the loop
   has its own domain, and the processes use its inbox. *)
type where = Same_domain | Other_domain

(* An actor in which a scheduler runs the tasks [works], and those tasks as actors that [Model]
   doesn't know. *)
let scheduler where ~is_lazy ~daemons ~looks works =
  Domain.all_differ (where = Other_domain);
  let s = Task.scheduler ~is_lazy in
  (* A model must not spin for long, because each turn is another operation. *)
  Domains.spawned := looks > 0;
  Spin.limit s.spin looks;
  Spin.never (Domain.DLS.get Operation.spins);
  s.scopes <- Fifo.scopes s;
  s.start <- Handler.run;
  let tasks =
    List.mapi
      (fun i _ ->
        let task = Members.prepare s.root in
        Members.add s task;
        if i < daemons then Task.become_daemon task;
        task)
      works
  in
  s.current <- -1;
  let actors = List.map (fun (name, work) -> make name work) works in
  let body a () =
    a.result <- waiting;
    match a.work () with
    | result -> a.result <- result
    | exception Task.Cancelled ->
        a.result <- "cancelled";
        raise Task.Cancelled
  in
  (* The outermost task must not take part, because the others would be cancelled with it. *)
  let start () =
    List.iter2
      (fun (task : Task.t) a ->
        s.waits.(task.number) <- Start (body a);
        Ready.push s task.number)
      tasks actors
  in
  let run () =
    Loop.run s start;
    if Task.has_members s.root then failwith "the loop left tasks behind";
    "ended"
  in
  (make "loop" run, tasks, actors)
