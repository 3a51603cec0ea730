(* [t], the only Atomic here: the tasks that wait

   Left by           To            By whom
   wait              ws, w         the task that waits, which then unlocks
   cancelled wait    ws - w        the task that enlisted w
   signal          * ws - w        anyone, if ws = w::_; it calls w
   broadcast       * []            anyone; it calls all of ws

   * linearises the operation, if the resumer answers [true]; if it refuses, [signal]
   goes on to the next one. *)
type wake = Signal | Broadcast
type t = (unit, wake) Waiters.t Atomic.t

let create () = Labels.made ~kind:"condition" (Atomic.make Waiters.empty)

let rec signal t =
  let waiters = Atomic.get t in
  if not (Waiters.is_empty waiters) then
    let w = Waiters.head waiters in
    if
      not
        (Atomic.compare_and_set t waiters (Waiters.tail waiters)
        && Waiter.resume w (Ok Signal))
    then (* a waiter came or withdrew; or [w] refused *) signal t

let rec broadcast t =
  let waiters = Atomic.get t in
  if not (Waiters.is_empty waiters) then
    let round = Waiters.round waiters (Ok Broadcast) in
    if Atomic.compare_and_set t waiters Waiters.empty then
      Waiters.resume_all round
    else (* a waiter came or withdrew, or a signal *) broadcast t

let rec push t w =
  let waiters = Atomic.get t in
  if not (Atomic.compare_and_set t waiters (Waiters.push waiters w)) then
    (* another waiter, a signal, or a withdrawal *)
    push t w

let waiters t = Waiters.length (Atomic.get t)
