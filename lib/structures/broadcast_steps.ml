(* The steps of a broadcast. The tables of states, and the words used here, are in
   [Broadcast_state]. Each step is a step of one word, and its comment says of which one. *)
open Broadcast_state

exception Closed = Errors.Closed
exception Lagged = Errors.Lagged

let uncounted = End { index = 0 }

let held capacity last =
  let notices = Waiters.empty and senders = Waiters.empty in
  let subscriptions = 0 and free = capacity and phase = Resting in
  Held { subscriptions; free; notices; senders; phase; last }

(* --- At the end ----------------------------------------------------------- *)

(* Advances [last] past the values that were just added. If [last] stayed behind, it would keep
   them alive. *)
let pass_end answer link : _ Step.t =
  match Atomic.get link with
  | Node { link; _ } | Counted { link; _ } -> Become (link, Again)
  | End _ | Waited _ | Held _ | Sealed | Dropped _ -> Return (link, answer)

(* A step of [last]. It performs [step link] on [link], the link at the end, and the result is
   the answer of [step]. *)
let at_end step link : _ Step.t =
  let step : _ -> _ Step.t = function
    | (Node _ | Counted _ | Dropped _) as next -> Return (next, None)
    | (End _ | Waited _ | Held _ | Sealed) as state -> step link state
  in
  let answered = function
    | None -> Step.Again
    | Some answer -> Step.Then (pass_end answer)
  in
  match Atomic.get link with
  | Node { link; _ } | Counted { link; _ } -> Become (link, Again)
  | Dropped _ -> (* [last] is another link now *) Become (link, Again)
  | End _ | Waited _ | Held _ | Sealed ->
      Become (link, At (link, step, answered))

(* The value, and the end behind it. *)
let counted value h =
  let after = { h with free = h.free - 1; notices = Waiters.empty } in
  let link = Atomic.make (Held after) in
  ( Counted { value; link; left = Atomic.make h.subscriptions; last = h.last },
    link )

(* If there are no subscriptions, a value takes no place. *)
let has_room h = h.free > 0 || h.subscriptions = 0

let must_wait h =
  match h.phase with
  | Resting -> not (has_room h && Waiters.is_empty h.senders)
  | Moving -> true
  | Closing -> false

(* --- Steps ---------------------------------------------------------------- *)

let finish () = Step.finished

(* A notice is a waiter that always refuses. It is withdrawn by being resumed, because the
   driver then marks it as withdrawn. *)
let refuse (_ : (unit, exn) result) = false

let notice s =
  let notice = Waiter.make s in
  notice.resumer <- refuse;
  notice

let has_more link =
  match Atomic.get link with
  | Node _ | Counted _ | Sealed | Dropped _ -> true
  | End _ | Waited _ | Held _ -> false

let not_serving () = assert false (* only the serving task leaves [Serving] *)
let not_moving () = assert false (* only the moving task leaves these phases *)
let pass_one left : _ Step.t = Return (left - 1, left = 1)
let moved = Some ()

(* A link with a value that came back. Its place was given back when it was received, so
   [left] never becomes 0. But it has to be a Counted value, because the values behind it are,
   and a task that leaves or drains passes them all. *)
let before link value =
  match Atomic.get link with
  | Counted { last; _ } | Held { last; _ } ->
      Atomic.make (Counted { value; link; left = Atomic.make max_int; last })
  | Node _ | End _ | Waited _ | Sealed | Dropped _ ->
      Atomic.make (Node { value; link })

let behind values link = List.fold_left before link (List.rev values)

(* A step of a subscription, by each task that may be the first to know that there is more. *)
let rec serve : _ -> _ Step.t = function
  | Waiting { link; waiters; _ } when has_more link -> hand_out link waiters
  | (Waiting _ | Reading _ | Serving _) as state -> Return (state, ())

(* The same, by the serving task, after the waiter has accepted. *)
and serve_on : _ -> _ Step.t = function
  | Serving { next; waiters; back; _ } -> hand_out (behind back next) waiters
  | Reading _ | Waiting _ -> not_serving ()

(* The same, after the waiter has refused. *)
and serve_again : _ -> _ Step.t = function
  | Serving { link; waiters; back; _ } -> hand_out (behind back link) waiters
  | Reading _ | Waiting _ -> not_serving ()

and then_serve_on = Step.Then (fun state -> serve_on state)
and then_serve_again = Step.Then (fun state -> serve_again state)

and hand_out link waiters : _ Step.t =
  if Waiters.is_empty waiters then Return (Reading link, ())
  else
    let w = Waiters.head waiters in
    match Atomic.get link with
    | Node { value; link = next } ->
        let accepted = then_serve_on and refused = then_serve_again in
        hand_over (Ok value) ~link ~next waiters ~accepted ~refused
    | Counted it ->
        let accepted = pass it (fun () -> then_serve_on)
        and refused = Step.Then (serve_counted_again it link) in
        hand_over (Ok it.value) ~link ~next:it.link waiters ~accepted ~refused
    | Dropped { index; oldest } ->
        let oldest = Atomic.get oldest in
        let lagged = Error (Lagged (oldest.index - index)) in
        let accepted = then_serve_on and refused = then_serve_again in
        hand_over lagged ~link ~next:oldest.link waiters ~accepted ~refused
    | Sealed ->
        let next = Step.resume_all waiters Errors.closed Step.finished in
        Become (Reading link, next)
    | End _ | Waited _ | Held _ ->
        let notice = notice w.arg in
        let next = Step.At (link, announce notice, finish) in
        Become (Waiting { link; waiters; notice }, next)

and hand_over outcome ~link ~next waiters ~accepted ~refused : _ Step.t =
  let waiters_left = Waiters.tail waiters in
  let state = Serving { link; next; waiters = waiters_left; back = [] } in
  Hand_over { state; waiter = Waiters.head waiters; outcome; accepted; refused }

(* The same, for a counted value. A task that ended the subscription meanwhile has passed only
   the values behind this one, because the waiter might have accepted it. So it is passed
   here. *)
and serve_counted_again it link : _ -> _ Step.t = function
  | Serving serving as state when serving.link != link ->
      Become (state, pass it (fun () -> then_serve_again))
  | state -> serve_again state

(* A step of a link. If the link is no longer an end, the subscription is served at once. *)
and announce notice : _ -> _ Step.t = function
  | End { index } ->
      Return (Waited { index; notices = Waiters.push Waiters.empty notice }, ())
  | Waited { index; notices } ->
      Return (Waited { index; notices = Waiters.push notices notice }, ())
  | Held h ->
      Return (Held { h with notices = Waiters.push h.notices notice }, ())
  | (Node _ | Counted _ | Sealed | Dropped _) as next ->
      Become (next, At (notice.Waiter.arg, serve, finish))

and serve_all :
    's 'r. 'a notices -> (unit -> ('s, 'r) Step.next) -> ('s, 'r) Step.next =
 fun notices k ->
  if Waiters.is_empty notices then k ()
  else
    let s = (Waiters.head notices).arg and others = Waiters.tail notices in
    if Waiters.is_empty others then At (s, serve, k)
    else At (s, serve, fun () -> serve_all others k)

(* One subscription has passed the value. If it was the last one, the place of the value is
   given back. *)
and pass :
    's 'r. 'a counted -> (unit -> ('s, 'r) Step.next) -> ('s, 'r) Step.next =
 fun { left; last; _ } k ->
  let passed = function
    | true -> Step.At (last, at_end (fun _ -> give), k)
    | false -> k ()
  in
  At (left, pass_one, passed)

(* A step of the link at the end: one more place. *)
and give : _ -> _ Step.t = function
  | Held h -> (
      let h = { h with free = h.free + 1 } in
      match h.phase with
      | Resting -> move (Held h)
      | Moving | Closing -> Return (Held h, moved))
  | state -> Return (state, moved)

(* A step of the link at the end, by the moving task, or by a task that becomes it. No other
   task adds a value or seals meanwhile, so this link stays the end. *)
and move : _ -> _ Step.t = function
  | Held { phase = Closing; notices; _ } ->
      Become (Sealed, serve_all notices (fun () -> Done moved))
  | Held h when has_room h && not (Waiters.is_empty h.senders) ->
      let waiter = Waiters.head h.senders
      and senders = Waiters.tail h.senders in
      Hand_over
        {
          state = Held { h with senders; phase = Moving };
          waiter;
          outcome = Ok ();
          accepted = Then (put_moved waiter.arg);
          refused = Then (fun state -> move state);
        }
  | Held h -> Return (Held { h with phase = Resting }, moved)
  | End _ | Waited _ | Node _ | Counted _ | Sealed | Dropped _ -> not_moving ()

(* The same, after the sender has accepted. *)
and put_moved value : _ -> _ Step.t = function
  | Held { subscriptions = 0; _ } as state -> move state
  | Held h ->
      let next, link = counted value h in
      let move_on () = Step.At (link, move, fun moved -> Done moved) in
      Become (next, serve_all h.notices move_on)
  | End _ | Waited _ | Node _ | Counted _ | Sealed | Dropped _ -> not_moving ()

(* Passes the values from [link] to [stop]. *)
let rec pass_to stop link k =
  if link == stop then k
  else
    match Atomic.get link with
    | Counted it -> pass it (fun () -> pass_to stop it.link k)
    | Node _ | End _ | Waited _ | Held _ | Sealed | Dropped _ -> k

let receive_step (_ : _ subscription) : _ -> _ Step.t = function
  | Waiting _ | Serving _ -> Wait
  | Reading link -> (
      match Atomic.get link with
      | Node { value; link } -> Return (Reading link, value)
      | Counted it ->
          let received = Step.Done it.value in
          Become (Reading it.link, pass it (fun () -> received))
      | End _ | Waited _ | Held _ | Dropped _ -> Wait
      | Sealed -> Raise Closed)

(* A step of a subscription, by a task that found no value. The result is the exception, if
   values were missed. *)
let lag_step () : _ -> _ Step.t = function
  | Waiting _ | Serving _ -> Wait
  | Reading link -> (
      match Atomic.get link with
      | Dropped { index; oldest } ->
          let oldest = Atomic.get oldest in
          Return (Reading oldest.link, Lagged (oldest.index - index))
      | Node _ | Counted _ | End _ | Waited _ | Held _ | Sealed -> Wait)

let rec collect link values =
  match Atomic.get link with
  | Node { value; link } | Counted { value; link; _ } ->
      collect link (value :: values)
  | End _ | Waited _ | Held _ | Sealed | Dropped _ -> (link, values)

let drain_step () : _ -> _ Step.t = function
  | (Waiting _ | Serving _) as state -> Return (state, [])
  | Reading link as state -> (
      match (collect link [], Atomic.get link) with
      | (_, []), _ -> Return (state, [])
      | (stop, values), Counted _ ->
          let next = pass_to stop link (Step.Done (List.rev values)) in
          Become (Reading stop, next)
      | (stop, values), _ -> Return (Reading stop, List.rev values))

let drop oldest index : _ -> _ Step.t = function
  | Node _ -> Return (Dropped { index; oldest }, ())
  | (Counted _ | End _ | Waited _ | Held _ | Sealed | Dropped _) as next ->
      Return (next, ())

(* A step of [oldest], which drops the values before the one with the index [first]. *)
let advance_oldest word first (oldest : _ oldest) : _ Step.t =
  if oldest.index >= first then Return (oldest, ())
  else
    match Atomic.get oldest.link with
    | Node { link; _ } ->
        let next = { link; index = oldest.index + 1 } in
        Become (next, At (oldest.link, drop word oldest.index, fun () -> Again))
    | Counted _ | End _ | Waited _ | Held _ | Sealed | Dropped _ ->
        (* another task has advanced [oldest] meanwhile *)
        Become (oldest, Again)

let extended () = Step.Done true

let numbered { capacity; oldest } value index : _ * (unit -> _ Step.next) =
  let sent = index + 1 in
  let drop () =
    Step.At (oldest, advance_oldest oldest (sent - capacity), extended)
  in
  (Node { value; link = Atomic.make (End { index = sent }) }, drop)

let never_held () = assert false (* [put] and [seal] handle these states *)

(* A step of the last link, in a broadcast whose senders never wait. [next index] is the new
   state of the link, and the steps that follow. The result is [false] if the broadcast is
   closed. The step returns [Wait] if this link is no longer the end. *)
let extend_step next : _ -> _ Step.t = function
  | Node _ | Dropped _ -> Wait
  | Sealed -> Return (Sealed, false)
  | End { index } ->
      let next, k = next index in
      Become (next, k ())
  | Waited { index; notices } ->
      let next, k = next index in
      Become (next, serve_all notices k)
  | Held _ | Counted _ -> never_held ()

type sent = Sent | Full | Over

(* A step of the link at the end, like the next one. *)
let put value : _ -> _ Step.t = function
  | Held { phase = Closing; _ } as state -> Return (state, Some Over)
  | Held h as state when must_wait h -> Return (state, Some Full)
  | Held { subscriptions = 0; _ } as state -> Return (state, Some Sent)
  | Held h ->
      let next, _ = counted value h in
      Become (next, serve_all h.notices (fun () -> Done (Some Sent)))
  | state -> Return (state, Some Over)

(* While values are being moved, the moving task seals at the end. *)
let seal : _ -> _ Step.t = function
  | Held { phase = Resting; senders; notices; _ } ->
      let sealed = serve_all notices (fun () -> Step.Done (Some ())) in
      Become (Sealed, Step.resume_all senders Errors.closed sealed)
  | Held ({ phase = Moving; senders; _ } as h) ->
      let ended = Step.resume_all senders Errors.closed (Done (Some ())) in
      Become (Held { h with phase = Closing; senders = Waiters.empty }, ended)
  | state -> Return (state, Some ())

(* Steps of [last]. *)
let put_step value = at_end (fun _ -> put value)
let seal_step () = at_end (fun _ -> seal)
let give_step () = at_end (fun _ -> give)

(* --- Subscribing ---------------------------------------------------------- *)

let nowhere () = Atomic.make Sealed

(* A step of the link at the end, which becomes the position of [s]. *)
let join s link state : _ Step.t =
  let begin_here _ : _ Step.t = Return (Reading link, ()) in
  let next = Step.At (s, begin_here, fun () -> Done (Some ())) in
  match state with
  | Held h -> Become (Held { h with subscriptions = h.subscriptions + 1 }, next)
  | state -> Become (state, next)

let join_step s = at_end (join s)

(* A step of the link at the end. The answer is this link. *)
let leave link : _ -> _ Step.t = function
  | Held h ->
      Return (Held { h with subscriptions = h.subscriptions - 1 }, Some link)
  | state -> Return (state, Some link)

(* A step of a link, after one of its notices was withdrawn. *)
let withdraw_notice : _ -> _ Step.t = function
  | (End _ | Node _ | Counted _ | Sealed | Dropped _) as next ->
      Return (next, ())
  | Waited { index; notices } ->
      let notices = Waiters.count_withdrawn notices in
      if Waiters.is_empty notices then Return (End { index }, ())
      else Return (Waited { index; notices }, ())
  | Held h ->
      Return (Held { h with notices = Waiters.count_withdrawn h.notices }, ())

(* Withdraws the notice of a subscription in which no task waits any more. *)
let forget notice link next =
  let withdrawn _ = Step.At (link, withdraw_notice, fun () -> next) in
  Step.Resume (notice, Ok (), withdrawn)

(* A step of a subscription. A value that was received comes back, as if it came before what
   the subscription has not read yet. *)
let take_back_step value : _ -> _ Step.t = function
  | Reading link -> Return (Reading (before link value), ())
  | Serving serving ->
      Return (Serving { serving with back = value :: serving.back }, ())
  | Waiting { waiters; link; notice } when Waiters.is_empty waiters ->
      Become (Reading (before link value), forget notice link Step.finished)
  | Waiting ({ waiters; link; notice } as waiting) ->
      let left = Waiters.tail waiters in
      let is_last = Waiters.is_empty left in
      let then_ next = if is_last then forget notice link next else next in
      Hand_over
        {
          state =
            (if is_last then Reading link
             else Waiting { waiting with waiters = left });
          waiter = Waiters.head waiters;
          outcome = Ok value;
          accepted = then_ Step.finished;
          refused = then_ Step.Again;
        }

(* The steps that follow when a subscription has left this position. *)
let leave_from link =
  match Atomic.get link with
  | Held { last; _ } | Counted { last; _ } ->
      let left stop = pass_to stop link Step.finished in
      Step.At (last, at_end leave, left)
  | Node _ | End _ | Waited _ | Sealed | Dropped _ -> Step.finished

let unsubscribe_step () : _ -> _ Step.t = function
  | Reading link as state when Atomic.get link == Sealed -> Return (state, ())
  | Reading link -> Become (Reading (nowhere ()), leave_from link)
  | Waiting { link; waiters; notice } ->
      let left () = leave_from link in
      let withdrawn _ = Step.At (link, withdraw_notice, left) in
      let next = Step.Resume (notice, Ok (), withdrawn) in
      Become (Reading (nowhere ()), Step.resume_all waiters Errors.closed next)
  | Serving { next; waiters; _ } ->
      let link = nowhere () in
      let waiters_left = Waiters.empty in
      let state =
        Serving { link; next = link; waiters = waiters_left; back = [] }
      in
      let next = leave_from next in
      Become (state, Step.resume_all waiters Errors.closed next)

(* --- The waiters ---------------------------------------------------------- *)

let enlisted () = Step.Done true

let enlist_step (w : (_ subscription, _) Waiter.t) : _ -> _ Step.t = function
  | Reading link as state when has_more link -> Return (state, false)
  | Reading link ->
      let waiters = Waiters.push Waiters.empty w and notice = notice w.arg in
      let next = Step.At (link, announce notice, enlisted) in
      Become (Waiting { link; waiters; notice }, next)
  | Waiting waiting ->
      let waiters = Waiters.push waiting.waiters w in
      Return (Waiting { waiting with waiters }, true)
  | Serving serving ->
      let waiters = Waiters.push serving.waiters w in
      Return (Serving { serving with waiters }, true)

let withdraw_step (_ : _ Waiter.t) : _ -> _ Step.t = function
  | Reading _ as state -> Return (state, ())
  | Serving serving ->
      let waiters = Waiters.count_withdrawn serving.waiters in
      Return (Serving { serving with waiters }, ())
  | Waiting ({ link; notice; _ } as waiting) ->
      let waiters = Waiters.count_withdrawn waiting.waiters in
      if Waiters.is_empty waiters then
        Hand_over
          {
            state = Reading link;
            waiter = notice;
            outcome = Ok ();
            accepted = Step.finished;
            refused = At (link, withdraw_notice, finish);
          }
      else Return (Waiting { waiting with waiters }, ())

(* A step of the link at the end, like the next one. *)
let enlist_sender w : _ -> _ Step.t = function
  | Held h when must_wait h ->
      Return (Held { h with senders = Waiters.push h.senders w }, Some true)
  | state -> Return (state, Some false)

let withdraw_sender : _ -> _ Step.t = function
  | Held h ->
      let senders = Waiters.count_withdrawn h.senders in
      Return (Held { h with senders }, Some ())
  | state -> Return (state, Some ())

(* Steps of [last]. *)
let enlist_sender_step w = at_end (fun _ -> enlist_sender w)
let withdraw_sender_step (_ : _ Waiter.t) = at_end (fun _ -> withdraw_sender)
