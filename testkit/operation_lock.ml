open Operation_scene
module Hand = Operation_hand

(* Another thread starts the operation and cancels it, while the calling thread waits for
   that thread. If the structure holds a lock here, the other thread blocks. *)
let probed s at =
  let came = Atomic.make false in
  let visit () =
    let hand = Hand.create () in
    let visitor = Hand.start hand (fun () -> wait s) in
    Atomic.set came true;
    ignore (Hand.cancel visitor : bool);
    Hand.settle hand
  in
  let thread = Thread.create visit () in
  let deadline = Unix.gettimeofday () +. 3. in
  while (not (Atomic.get came)) && Unix.gettimeofday () < deadline do
    Thread.delay 0.0001
  done;
  if Atomic.get came then Thread.join thread
  else
    Trial.fail
      "another thread blocks in the structure while %s, so a lock is held there"
      at

let unlocked_where hooks s =
  let failed = Atomic.make None in
  let probed at () = try probed s at with e -> Atomic.set failed (Some e) in
  let w = start ~hooks:(hooks probed) s in
  let_go s 1;
  Option.iter raise (Atomic.get failed);
  (* In a structure without an order, the visitor may have taken the first release. *)
  if waits w && Atomic.get s.served <> [] then let_go s 1;
  returned w

let when_waiting probed =
  { Hand.no_hooks with waits = once (probed "a task waits") }

let when_performing probed =
  { Hand.no_hooks with performs = once (probed "a task performs Suspend") }

let when_resuming probed =
  { Hand.no_hooks with resumes = once (probed "a resumer is called") }

let cases =
  [
    ("a task waits", unlocked_where when_waiting);
    ("a task performs Suspend", unlocked_where when_performing);
    ("a resumer is called", unlocked_where when_resuming);
  ]
