(* Unbroken, as both functions that this calls. *)
let traced { Who.parent; forked_at } ~ask f () =
  if Observer.is_traced () then
    Tracing.forked ~parent ~at:(Call_site.line forked_at) ~ask f
  else f ()

let forked (origin : Who.origin) ~ask f =
  if Observer.are_kept () then
    Waits.from_begin ~forked_at:origin.forked_at ~ask (traced origin ~ask f)
  else traced origin ~ask f ()

let () =
  Observer.install
    {
      made = Labels.made;
      ends_waits = (fun holders structure -> Labels.add ~holders structure);
      part = Labels.part;
      raises = Labels.raises;
      wait =
        (fun targets suspend block ->
          (* With [leaks] alone, the task's name doesn't matter. *)
          if Forks.are_observed () then
            Noted.wait ~who:(Identify.task ()) targets suspend block
          else suspend block);
      sleep =
        (fun target suspend block ->
          Waits.during ~who:(Identify.task ()) [ target ] suspend block);
      operation = Noted.operation;
      task = Identify.task;
      waker = Identify.waker;
      caller = (fun () -> Holder.held (Extent.task ()));
      before_wait = Strict.before_lock;
      within = (fun f -> Extent.within (fun by -> f (Holder.held by)));
      before_lock = Misuse.before_lock;
      before_unlock = Misuse.before_unlock;
      began = forked;
      origin = Task_id.note_origin;
      queue =
        (fun name length block ->
          if not (Identify.is_question block) then Tracing.queue name length);
      guard = Leak_guards.guard;
      lost = Leak_guards.lost;
      before_sleep = Leak_search.before_sleep;
      parks = Forgotten.warn;
      explain =
        (fun e ~of_kind ~otherwise -> Labels.explain e ~of_kind ?otherwise);
    }

let () = Debug_start.start ()
