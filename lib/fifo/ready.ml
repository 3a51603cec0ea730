open Task_types
open Task

let this_domain () = (Domain.self () :> int)
let this_thread () = Thread.id (Thread.self ())

(* Threads of one domain switch only at polls and allocations. The functions marked [@poll
   error] have none, so they are atomic between these threads, and unbroken. If
   [s.domain] is the calling thread's domain, no other domain is using the ring. A thread never
   changes its domain, so the caller may determine it before.

   [Members] explains why no index is out of bounds. *)

(* The ring must have room. *)
let[@inline always] unsafe_store s number =
  Array.unsafe_set s.ring (s.next_free land s.mask) number;
  s.next_free <- s.next_free + 1

let[@inline always] is_full s = s.next_free - s.first_ready > s.mask

let[@poll error] [@inline never] store s number =
  (not (is_full s))
  && begin
    unsafe_store s number;
    true
  end

let[@poll error] [@inline never] store_due s number rest =
  (not (is_full s))
  && begin
    unsafe_store s number;
    s.due <- rest;
    true
  end

let[@poll error] [@inline never] try_push s domain number =
  s.domain = domain
  && (not (is_full s))
  && begin
    unsafe_store s number;
    true
  end

let[@poll error] [@inline never] pop s =
  let first = s.first_ready in
  if first = s.next_free then -1
  else begin
    let number = Array.unsafe_get s.ring (first land s.mask) in
    s.first_ready <- first + 1;
    s.current <- number;
    number
  end

let[@poll error] [@inline never] replace_ring s before after =
  if s.ring == before then begin
    s.ring <- after;
    s.mask <- Array.length after - 1
  end

(* For [Spinner]. *)

let[@poll error] [@inline never] begin_spin s number decision undecided spun_on
    =
  if Atomic.compare_and_set decision undecided spun_on then s.spins_on <- number

type left = Left | Ready | No_room

let[@poll error] [@inline never] leave_spin s number decision undecided spun_on
    =
  if Atomic.compare_and_set decision spun_on undecided then begin
    s.spins_on <- -1;
    Left
  end
  else if is_full s then No_room
  else begin
    unsafe_store s number;
    s.spins_on <- -1;
    Ready
  end

(* Call this if the ring is full. Then nothing can be pushed meanwhile, unless a handler grows
   the ring first. In that case, [larger] is dropped. *)
let[@inline never] grow s =
  let ring = s.ring in
  let size = Array.length ring in
  let larger = Array.make (2 * size) 0 in
  for i = s.first_ready to s.next_free - 1 do
    larger.(i land ((2 * size) - 1)) <- ring.(i land (size - 1))
  done;
  replace_ring s ring larger

let rec push_growing s number =
  grow s;
  if not (store s number) then push_growing s number

let[@inline] push s number = if not (store s number) then push_growing s number

let rec push_due s task rest =
  if not (store_due s task.number rest) then begin
    grow s;
    push_due s task rest
  end

let rec post s message =
  let before = Atomic.get s.inbox in
  if not (Atomic.compare_and_set s.inbox before (message before)) then
    (* another thread posted, or the loop emptied the inbox *)
    post s message

(* Unbroken, so the second call is not a tail call, and this is not a loop. *)
let rec surely f a b =
  let paid = ref false in
  match
    f a b;
    paid := true
  with
  | () -> ()
  | exception e ->
      let backtrace = Backtrace.get () in
      if not !paid then surely f a b;
      Printexc.raise_with_backtrace e backtrace

let call resumer () = ignore (resumer (Ok ()) : bool)

(* The thread that finds the loop asleep takes its resumer and calls it. *)
let[@inline never] wake_sleeper s =
  match Atomic.get s.sleep with
  | Awake -> ()
  | Asleep resumer as before ->
      if Atomic.compare_and_set s.sleep before Awake then surely call resumer ()

let[@inline] wake s = if Atomic.get s.sleep != Awake then wake_sleeper s
let on_loop s = s.domain = this_domain () && s.thread = this_thread ()

(* If the loop itself finds its ring full, it must not post to the inbox. Otherwise the task
   would come behind tasks that the loop pushes later. *)
let enqueue s task =
  if on_loop s then push s task.number
  else post s (fun rest -> Wake (task, rest))

let[@inline never] make_ready_slowly s task =
  match surely enqueue s task with
  | () -> wake s
  | exception e ->
      let backtrace = Backtrace.get () in
      wake s;
      Printexc.raise_with_backtrace e backtrace

let[@inline] make_ready task =
  let s = task.scope.scheduler in
  if try_push s (this_domain ()) task.number then wake s
  else make_ready_slowly s task

(* If the task was cancelled lazily, it is unwound now, but the caller has not resumed it. *)
let[@inline never] unwind_doomed task decision =
  if
    Decision.outcome decision == doomed
    && Atomic.compare_and_set
         (decision : _ Decision.t :> _ Atomic.t)
         doomed cancelled
  then make_ready task

let rec resume_again task decision outcome =
  if Decision.decide decision outcome then begin
    make_ready task;
    true
  end
  else
    let found = Decision.outcome decision in
    if found == spun_on then
      Atomic.compare_and_set
        (decision : _ Decision.t :> _ Atomic.t)
        spun_on outcome
      ||
      (* the loop stopped spinning *)
      resume_again task decision outcome
    else if Decision.is_undecided found then
      (* the loop has stopped spinning since *)
      resume_again task decision outcome
    else begin
      unwind_doomed task decision;
      false
    end

(* There is no polling point before the first decision. A loop would have one. *)
let[@inline] resume task decision outcome =
  if Decision.decide decision outcome then begin
    make_ready task;
    true
  end
  else resume_again task decision outcome

let is_empty s = s.first_ready = s.next_free && Atomic.get s.inbox == Nothing

let is_idle s =
  is_empty s && List.is_empty s.doomed && List.is_empty s.unwinding
  && List.is_empty s.failed && s.first_ready < s.poll_at
