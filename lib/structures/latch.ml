(* [t], the only Atomic here

   State           Left by            To                By whom
   Shut (n, ws)    count_down, n > 1  Shut (n - 1, ws)  any task
                   count_down, n = 1  Open              any task; it calls all of ws
                   a waiter           Shut (n, (ws, w)) the task that waits
                   cancelled waiter   Shut (n, ws - w)  the task that enlisted w
   Open            never (terminal) *)
type state = Shut of int * (unit, unit) Waiters.t | Open
type t = state Atomic.t

let make n = Atomic.make (if n = 0 then Open else Shut (n, Waiters.empty))

let create ?name n =
  if n < 0 then invalid_arg "Latch.create: negative count";
  Labels.made ~kind:"latch" ?name (make n)

let rec count_down t =
  match Atomic.get t with
  | Open -> invalid_arg "Latch.count_down: the latch is open"
  | Shut (n, waiters) as before ->
      if n > 1 then
        begin if not (Atomic.compare_and_set t before (Shut (n - 1, waiters)))
        then (* another count, another waiter, or a withdrawal *) count_down t
        end
      else
        let round = Waiters.round waiters (Ok ()) in
        if Atomic.compare_and_set t before Open then Waiters.resume_all round
        else (* as above *) count_down t

let is_open t = Atomic.get t == Open
let count t = match Atomic.get t with Open -> 0 | Shut (n, _) -> n

let rec enlist t w =
  match Atomic.get t with
  | Open -> false
  | Shut (n, waiters) as before ->
      Atomic.compare_and_set t before (Shut (n, Waiters.push waiters w))
      ||
      (* a count, another waiter, or a withdrawal *)
      enlist t w

let withdraw t w =
  Operation.leave t w @@ function
  | Open -> Open
  | Shut (n, waiters) -> Shut (n, Waiters.count_gone waiters)

let awaiting =
  {
    Operation.name = "Latch.await";
    spin = Before;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun t () -> if is_open t then Some () else None);
          enlist;
          withdraw;
        };
  }

let await t = if not (is_open t) then Operation.wait awaiting t ()
let await_evt t = Event.make awaiting t ()

let waiters t =
  match Atomic.get t with
  | Open -> 0
  | Shut (_, waiters) -> Waiters.length waiters
