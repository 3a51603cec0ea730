(* Unbroken, as both functions that this calls. *)
let traced { Who.parent; forked_at } ~ask f () =
  if Observer.is_traced () then
    Tracing.forked ~parent ~at:(Call_site.line forked_at) ~ask f
  else f ()

let forked (origin : Who.origin) ~ask f =
  if Observer.are_kept () then
    Waits.from_begin ~forked_at:origin.forked_at ~ask (traced origin ~ask f)
  else traced origin ~ask f ()

let measured targets suspend block =
  if Observer.measures () then Measures.during targets suspend block
  else suspend block

let () =
  Observer.install
    {
      made = Labels.made;
      ends_waits =
        (fun ~is_over holders structure ->
          Labels.add ~is_over ~holders structure);
      part = Labels.part;
      raises = Labels.raises;
      wait =
        (fun targets suspend block ->
          (* With [leaks] alone, the task's name doesn't matter. *)
          if Forks.are_observed () then
            Noted.wait ~who:(Identify.task ()) targets
              (measured targets suspend) block
          else measured targets suspend block);
      sleep =
        (fun target suspend block ->
          Waits.during ~who:(Identify.task ()) [ target ] suspend block);
      operation = Noted.operation;
      task = Identify.task;
      waker = Identify.waker;
      caller =
        (fun () ->
          if Observer.are_kept () then Holder.held (Extent.task ())
          else Holder.measured ());
      before_wait = Strict.before_lock;
      within =
        (fun f ->
          if Observer.are_kept () then
            Extent.within (fun by -> f (Holder.held by))
          else f (Holder.measured ()));
      before_lock =
        (fun t owner caller ~still_holds ->
          if Observer.are_kept () then
            Misuse.before_lock t owner caller ~still_holds);
      before_unlock =
        (fun t owner ->
          if Observer.are_kept () then Misuse.before_unlock t owner);
      gave_back = Measures.gave_back;
      began = forked;
      origin = Task_id.note_origin;
      queue =
        (fun name length block ->
          if not (Identify.is_question block) then Tracing.queue name length);
      guard = Leak_search.guard;
      lost = Leak_guards.lost;
      collect = Leak_guards.collect;
      parks = Forgotten.warn;
    }

let () = Debug_start.start ()
