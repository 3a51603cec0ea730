(* [idle], the only Atomic here beside those of the mailbox, which is never closed. It holds the
   resumers of threads that sleep or are about to. The one that was added last is the first.

   Left by    To                   By whom
   block      with its resumer     a thread that finds nothing to take. It then looks at the
                                   queue again
   remove     without a resumer    any thread, after it has called that resumer

   A thread adds its resumer before it looks at the queue for the last time. A thread that puts
   reads [idle] afterwards. So one of the two sees the other (H4). A resumer is called before it
   is removed. So it may be called twice (unbroken), which does no harm.

   [Domains] doesn't count the threads in [idle]. Debt: the thread that adds a resumer counts one
   less just before, so that the thread that removes it at once doesn't count one too many. The
   thread that removes it counts one more. Both are unbroken. *)
type 'a t = {
  queue : 'a Mailbox.t;
  idle : unit Concord_suspend.resumer list Atomic.t;
}

let create () = { queue = Mailbox.create (); idle = Atomic.make [] }
let take t = Mailbox.try_take t.queue
let length t = Mailbox.length t.queue
let take_all t = Mailbox.drain t.queue

let rec add t resumer =
  let before = Atomic.get t.idle in
  let after = resumer :: before in
  (* unbroken *)
  Domains.one_less_worker ();
  if not (Atomic.compare_and_set t.idle before after) then begin
    Domains.one_more_worker ();
    add t resumer
  end

let rec remove t resumer =
  let before = Atomic.get t.idle in
  if List.memq resumer before then begin
    let after = List.filter (fun other -> other != resumer) before in
    if Atomic.compare_and_set t.idle before after then
      Domains.one_more_worker ()
    else remove t resumer
  end

(* A resumer that refuses belongs to a thread that was woken, or did not sleep. *)
let rec wake_one t =
  match Atomic.get t.idle with
  | [] -> ()
  | resumer :: _ ->
      let was_asleep = resumer (Ok ()) in
      remove t resumer;
      if not was_asleep then wake_one t

let rec wake_all t =
  if not (List.is_empty (Atomic.get t.idle)) then begin
    wake_one t;
    wake_all t
  end

(* The recursive call is not a tail call. Otherwise the compiler would put a polling point at
   the beginning of the function, where the exception handler doesn't cover it. *)
let rec put t v =
  match
    Mailbox.add t.queue v;
    wake_one t
  with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      put t v;
      Printexc.raise_with_backtrace e backtrace

(* If the thread need not sleep, it resumes itself, because another thread may have called the
   resumer by now (S1). *)
let block t ~is_over resumer =
  add t resumer;
  if (not (Mailbox.is_empty t.queue)) || is_over () then begin
    ignore (resumer (Ok ()) : bool);
    remove t resumer
  end;
  None
