(* The states of [t], which is the only Atomic here

   State           Left by              To                 By whom
   Open (ss, rs)   send, rs = r::_    * Open (ss, rs - r)  any task, which calls r
                   receive, ss = s::_ * Open (ss - s, rs)  any task, which calls s
                   close              * Closed             any task, which calls all
   Closed          never (terminal)

   In addition, senders add themselves to [ss], receivers add themselves to [rs], and both
   withdraw.

   * linearises the operation of the task that makes the transition, and that of the waiter
   that it resumes. If the resumer refuses, the only change is that the waiter is withdrawn.

   Senders and receivers wait at the same time only if they are alternatives of one choice,
   which can't meet itself, or if all on one side are withdrawn. [Step.enlist] makes sure of
   that. *)
type 'a state = Open of ('a, unit) Waiters.t * (unit, 'a) Waiters.t | Closed
type 'a t = 'a state Atomic.t

let idle = Open (Waiters.empty, Waiters.empty)
let create ?name () = Observer.made ~kind:"channel" ?name (Atomic.make idle)

let opened senders receivers =
  if Waiters.is_empty senders && Waiters.is_empty receivers then idle
  else Open (senders, receivers)

(* --- Steps ---------------------------------------------------------------- *)

let send_step v : _ -> _ Step.t = function
  | Closed -> Raise Errors.Closed
  | Open (_, receivers) when Waiters.is_empty receivers -> Wait
  | Open (senders, receivers) ->
      Step.to_first receivers (Ok v)
        (opened senders (Waiters.tail receivers))
        ()

let receive_step () : _ -> _ Step.t = function
  | Closed -> Raise Errors.Closed
  | Open (senders, _) when Waiters.is_empty senders -> Wait
  | Open (senders, receivers) ->
      let value = (Waiters.head senders).arg in
      Step.to_first senders (Ok ())
        (opened (Waiters.tail senders) receivers)
        value

(* A value that was received comes back. It waits before all senders, although its own sender
   has left. *)
let take_back_step v : _ -> _ Step.t = function
  | Closed -> Return (Closed, false)
  | Open (senders, receivers) when Waiters.is_empty receivers ->
      let senders = Waiters.push_first senders (Waiter.make_willing v) in
      Return (Open (senders, receivers), true)
  | Open (senders, receivers) ->
      Step.to_first receivers (Ok v)
        (opened senders (Waiters.tail receivers))
        true

let undo_receive t () v = Step.surely t take_back_step v

let close_step () : _ -> _ Step.t = function
  | Closed -> Return (Closed, ())
  | Open (senders, receivers) ->
      let then_receivers =
        Step.resume_all receivers Errors.closed Step.finished
      in
      Become (Closed, Step.resume_all senders Errors.closed then_receivers)

(* --- Who waits ------------------------------------------------------------ *)

let senders change w = function
  | Closed -> Closed
  | Open (senders, receivers) -> opened (change senders w) receivers

let receivers change w = function
  | Closed -> Closed
  | Open (senders, receivers) -> opened senders (change receivers w)

let sending =
  {
    Operation.default with
    name = "Channel.send";
    undo = Operation.undo_nothing;
    spin = Enlisted;
    how =
      By_steps
        {
          word = Fun.id;
          step = send_step;
          queue = senders;
          left = Step.finished;
        };
  }

let receiving =
  {
    Operation.default with
    name = "Channel.receive";
    undo = undo_receive;
    spin = Enlisted_or_before;
    how =
      By_steps
        {
          word = Fun.id;
          step = receive_step;
          queue = receivers;
          left = Step.finished;
        };
  }

(* --- Operations ----------------------------------------------------------- *)

let[@inline] try_send t v =
  match Atomic.get t with
  | Open (_, receivers) when Waiters.is_empty receivers -> false
  | Open _ | Closed -> Option.is_some (Step.attempt t send_step v)

let send t v = if not (try_send t v) then Operation.wait sending t v

let[@inline] try_receive t =
  match Atomic.get t with
  | Open (senders, _) when Waiters.is_empty senders -> None
  | Open _ | Closed -> Step.attempt t receive_step ()

let receive t =
  match try_receive t with Some v -> v | None -> Operation.wait receiving t ()

let close t = Step.perform t close_step ()

(* --- Looking -------------------------------------------------------------- *)

let is_closed t = Atomic.get t == Closed

let waiters t =
  match Atomic.get t with
  | Closed -> 0
  | Open (senders, receivers) ->
      Waiters.length senders + Waiters.length receivers

let count_senders t =
  match Atomic.get t with
  | Closed -> 0
  | Open (senders, _) -> Waiters.length senders

let drain t =
  let rec receive n received =
    match if n = 0 then None else try_receive t with
    | Some v -> receive (n - 1) (v :: received)
    | None | (exception Errors.Closed) -> List.rev received
  in
  receive (count_senders t) []
