(* [t], the only Atomic here

   State           Left by              To                 By whom
   Open (ss, rs)   send, rs = r::_    * Open (ss, rs - r)  any task; it calls r
                   receive, ss = s::_ * Open (ss - s, rs)  any task; it calls s
                   a sender             Open ((ss, s), rs) the task that waits
                   a receiver           Open (ss, (rs, r)) the task that waits
                   cancelled waiter     without it         the task that enlisted it
                   close              * Closed             any task; it calls all
   Closed          never (terminal)

   * linearises the operation of the task that does it, and that of the waiter that
   it resumes: if the resumer refuses, nothing has happened but that the waiter is
   gone.

   Senders and receivers wait at once only if they are alternatives of one choice,
   which cannot meet itself, or if those on one side are gone. *)
type 'a state = Open of ('a, unit) Waiters.t * (unit, 'a) Waiters.t | Closed
type 'a t = 'a state Atomic.t

let idle = Open (Waiters.empty, Waiters.empty)
let create ?name () = Labels.made ~kind:"channel" ?name (Atomic.make idle)

let opened senders receivers =
  if Waiters.is_empty senders && Waiters.is_empty receivers then idle
  else Open (senders, receivers)

let[@inline never] closed t =
  Closed.by t;
  raise Closed.Closed

(* --- Sending -------------------------------------------------------------- *)

let rec try_send t v =
  match Atomic.get t with
  | Closed -> closed t
  | Open (senders, receivers) as before ->
      (not (Waiters.is_empty receivers))
      && begin
        let w = Waiters.head receivers in
        let after = opened senders (Waiters.tail receivers)
        and outcome = Ok v in
        (Atomic.compare_and_set t before after && Waiter.resume w outcome)
        ||
        (* the channel changed, or [w] refused *)
        try_send t v
      end

let rec enlist_sender t w =
  match Atomic.get t with
  | Closed -> false
  | Open (senders, receivers) as before ->
      (Waiters.is_empty receivers || not (Waiters.has_partner receivers w))
      && (Atomic.compare_and_set t before
            (Open (Waiters.push senders w, receivers))
         ||
         (* the channel changed *)
         enlist_sender t w)

let withdraw_sender t w =
  Operation.leave t w @@ function
  | Closed -> Closed
  | Open (senders, receivers) -> opened (Waiters.count_gone senders) receivers

let sending =
  {
    Operation.name = "Channel.send";
    spin = Enlisted;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun t v -> if try_send t v then Some () else None);
          enlist = enlist_sender;
          withdraw = withdraw_sender;
        };
  }

let send t v = if not (try_send t v) then Operation.wait sending t v

(* --- Receiving ------------------------------------------------------------ *)

let rec try_receive t =
  match Atomic.get t with
  | Closed -> closed t
  | Open (senders, receivers) as before ->
      if Waiters.is_empty senders then None
      else
        let w = Waiters.head senders in
        let after = opened (Waiters.tail senders) receivers in
        let received = Some w.Waiter.arg in
        if Atomic.compare_and_set t before after && Waiter.resume w (Ok ()) then
          received
        else (* the channel changed, or [w] refused *) try_receive t

let rec enlist_receiver t w =
  match Atomic.get t with
  | Closed -> false
  | Open (senders, receivers) as before ->
      (Waiters.is_empty senders || not (Waiters.has_partner senders w))
      && (Atomic.compare_and_set t before
            (Open (senders, Waiters.push receivers w))
         ||
         (* the channel changed *)
         enlist_receiver t w)

let withdraw_receiver t w =
  Operation.leave t w @@ function
  | Closed -> Closed
  | Open (senders, receivers) -> opened senders (Waiters.count_gone receivers)

let receiving =
  {
    Operation.name = "Channel.receive";
    spin = Enlisted_or_before;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun t () -> try_receive t);
          enlist = enlist_receiver;
          withdraw = withdraw_receiver;
        };
  }

let receive t =
  match try_receive t with Some v -> v | None -> Operation.wait receiving t ()

(* --- Closing, looking ----------------------------------------------------- *)

let rec close t =
  match Atomic.get t with
  | Closed -> ()
  | Open (senders, receivers) as before ->
      let sending = Waiters.round senders Closed.outcome
      and receiving = Waiters.round receivers Closed.outcome in
      if Atomic.compare_and_set t before Closed then
        Waiters.resume_both sending receiving
      else (* the channel changed *) close t

let is_closed t = Atomic.get t == Closed

let waiters t =
  match Atomic.get t with
  | Closed -> 0
  | Open (senders, receivers) ->
      Waiters.length senders + Waiters.length receivers

let senders t =
  match Atomic.get t with
  | Closed -> 0
  | Open (senders, _) -> Waiters.length senders

let drain t =
  let rec receive n received =
    match if n = 0 then None else try_receive t with
    | Some v -> receive (n - 1) (v :: received)
    | None | (exception Closed.Closed) -> List.rev received
  in
  receive (senders t) []
