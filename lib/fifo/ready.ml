open Task

let this_domain () = (Domain.self () :> int)
let this_thread () = Thread.id (Thread.self ())

(* While it grows, other threads of the domain must not push. *)
let[@inline never] grow s =
  let domain = s.domain in
  s.domain <- -1;
  let size = Array.length s.ring in
  let ring = Array.make (2 * size) 0 in
  for i = s.first_ready to s.next_free - 1 do
    ring.(i land ((2 * size) - 1)) <- s.ring.(i land (size - 1))
  done;
  s.ring <- ring;
  s.mask <- (2 * size) - 1;
  s.domain <- domain

(* Threads of one domain switch at polls and allocations only, and there is none
   in the next two functions: so they are atomic between these threads. That
   [s.domain] is the calling thread's, which never changes, means that no other
   domain is at it. It is asked for outside: OCaml 5.1 polls in [Domain.self]. *)

let[@poll error] [@inline never] store s number =
  let next_free = s.next_free in
  if next_free - s.first_ready <= s.mask then begin
    Array.unsafe_set s.ring (next_free land s.mask) number;
    s.next_free <- next_free + 1;
    true
  end
  else false

let[@poll error] [@inline never] try_push s domain number =
  let next_free = s.next_free in
  if s.domain = domain && next_free - s.first_ready <= s.mask then begin
    Array.unsafe_set s.ring (next_free land s.mask) number;
    s.next_free <- next_free + 1;
    true
  end
  else false

let rec push_growing s number =
  grow s;
  if not (store s number) then push_growing s number

let[@inline] push s number = if not (store s number) then push_growing s number

let rec post s message =
  let before = Atomic.get s.inbox in
  if not (Atomic.compare_and_set s.inbox before (message before)) then
    (* another thread posted, or the loop emptied it *)
    post s message

(* Whoever finds the loop asleep takes its resumer, and calls it. *)
let[@inline never] wake_sleeper s =
  match Atomic.get s.sleep with
  | Awake -> ()
  | Asleep resumer as before ->
      if Atomic.compare_and_set s.sleep before Awake then
        ignore (resumer (Ok ()) : bool)

let[@inline] wake s = if Atomic.get s.sleep != Awake then wake_sleeper s
let on_loop s = s.domain = this_domain () && s.thread = this_thread ()

(* The loop itself may find its ring full: then it must not go through the inbox,
   which is behind those that it pushes later. *)
let[@inline never] make_ready_slowly s task =
  if on_loop s then push s task.number
  else post s (fun rest -> Wake (task, rest))

let[@inline] make_ready s task =
  if not (try_push s (this_domain ()) task.number) then make_ready_slowly s task;
  wake s

(* A task that was cancelled lazily is unwound now, but was not resumed. *)
let[@inline never] unwind_doomed task decision =
  if
    Atomic.get decision == doomed
    && Atomic.compare_and_set decision doomed (Error Cancelled)
  then make_ready task.scope.scheduler task

let[@inline] resume task decision outcome =
  if Atomic.compare_and_set decision undecided outcome then begin
    make_ready task.scope.scheduler task;
    true
  end
  else begin
    unwind_doomed task decision;
    false
  end

let is_idle s = s.first_ready = s.next_free && Atomic.get s.inbox == Nothing
