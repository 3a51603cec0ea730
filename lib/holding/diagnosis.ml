let forked { Who.parent; forked_at } ~ask f =
  Tracing.forked ~parent ~at:(Call_site.line forked_at) ~ask f

let () =
  Observer.install
    {
      made = Labels.made;
      ends_waits = (fun holders structure -> Labels.add ~holders structure);
      part = Labels.part;
      raises = Labels.raises;
      wait =
        (fun targets suspend block ->
          Noted.wait ~who:(Reach.who ()) targets suspend block);
      sleep =
        (fun target suspend block ->
          Waits.during ~who:(Reach.who ()) [ target ] suspend block);
      operation = Noted.operation;
      caller = (fun () -> Holder.held (Extent.task ()));
      before_wait = Strict.before_lock;
      within = (fun f -> Extent.within (fun by -> f (Holder.held by)));
      before_lock = Misuse.before_lock;
      before_unlock = Misuse.before_unlock;
      began = forked;
      origin = Task_id.note_origin;
      queue = Tracing.queue;
      guard = Leak_guards.guard;
      lost = Leak_guards.lost;
    }
