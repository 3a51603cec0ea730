(* [t], the only Atomic here: the tasks that wait

   Left by           To            By whom
   wait              ws, w         the task that waits
   cancelled wait    ws - w        the task that enlisted w
   signal          * ws - w        anyone, if ws = w::_; it calls w
   broadcast       * []            anyone; it calls all of ws

   * linearises the operation, if the resumer answers [true]; if it refuses, [signal]
   goes on to the next one. *)
type 'a t = (unit, 'a) Waiters.t Atomic.t

let create ?name () = Labels.made ~kind:"bvar" ?name (Atomic.make Waiters.empty)

let rec signal t v =
  let waiters = Atomic.get t in
  (not (Waiters.is_empty waiters))
  &&
  let w = Waiters.head waiters in
  Atomic.compare_and_set t waiters (Waiters.tail waiters)
  && Waiter.resume w (Ok v)
  ||
  (* a waiter came or withdrew; or [w] refused *)
  signal t v

let rec broadcast_outcome t outcome =
  let waiters = Atomic.get t in
  if not (Waiters.is_empty waiters) then
    let round = Waiters.round waiters outcome in
    if Atomic.compare_and_set t waiters Waiters.empty then
      Waiters.resume_all round
    else
      (* a waiter came or withdrew, or a signal *)
      broadcast_outcome t outcome

let broadcast t v = broadcast_outcome t (Ok v)
let broadcast_exn t e = broadcast_outcome t (Error e)

(* --- Waiting -------------------------------------------------------------- *)

let rec enlist t w =
  let waiters = Atomic.get t in
  Atomic.compare_and_set t waiters (Waiters.push waiters w)
  ||
  (* another waiter, a signal, or a withdrawal *)
  enlist t w

let waiting =
  {
    Operation.name = "Bvar.wait";
    spin = Never;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun _ () -> None);
          enlist;
          withdraw = (fun t w -> Operation.leave t w Waiters.count_gone);
        };
  }

let wait t = Operation.wait waiting t ()
let wait_evt t = Event.make ~last:true waiting t ()
let waiters t = Waiters.length (Atomic.get t)
