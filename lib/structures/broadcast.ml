(* A list of values that grows at its end, in which each subscription has a position.

   A link
   State         Left by   To                   By whom
   End           send    * Node                 any task; then it advances [last], and
                                                [oldest] if values are dropped
                 announce  Waited [s]           a task that waits through s
                 close   * Sealed               any task
   Waited ss     send    * Node                 any task; then it serves all of ss, and as
                                                above
                 announce  Waited (ss, s)       a task that waits through s
                 withdraw  Waited (ss - s), or End
                                                the last task to wait through s
                 close   * Sealed               any task; then it serves all of ss
   Held          see below
   Node          drop      Dropped              the task that advanced [oldest] past it
   Counted, Sealed, Dropped  never (terminal)

   A subscription; [link] is its position: what comes next is there
   State            Left by          To                    By whom
   Reading link     receive, drain * Reading link'         any task; then it passes the
                                                           values that are counted
                    lag            * Reading oldest        any task that finds Dropped at
                                                           [link]; it raises Lagged
                    a waiter         Waiting (link, [w])   the task that waits; then
                                                           it announces
                    unsubscribe    * Reading nowhere       any task; then it leaves
   Waiting (_, [w]) w withdraws      Reading link          the task that enlisted w;
                                                           then it withdraws what was
                                                           announced
   Waiting (_, ws)  serve          * Serving (_, ws - w)   a task that finds a value, or
                                                           Dropped; it calls w
                    serve            Reading link          a task that finds the end;
                                                           it calls all of ws
                    unsubscribe    * Reading nowhere       any task; it calls all of ws,
                                                           withdraws what was announced,
                                                           and leaves
   Serving (_, ws)  serve          * Serving (_, ws - w)   the serving task: it calls w
                    serve            Reading link'         that task: none waits, or
                                                           the end; it calls all of ws
                    serve            Waiting (link', ws)   that task: no value is left;
                                                           then it announces
                    unsubscribe    * Serving nowhere       any task; it calls all of ws,
                                                           and leaves

   and waiters come to [ws] of both, and withdraw. Nowhere is a link that is sealed.

   [oldest], if values are dropped: the position of the oldest value that is kept
   State     Left by   To             By whom
   link      drop      its next link  a task that has sent, while more values are kept than
                                      the limit allows; then it makes [link] Dropped

   Held, the end of a broadcast whose senders wait. It holds the number of subscriptions,
   the [free] places, those to serve as Waited does, and the senders ws that wait
   Phase      Left by    To                     By whom
   Resting    send     * Counted, then Resting with a place less
                                                any task, if no sender has to wait; then it
                                                serves
              subscribe, leave                  any task: one subscription more, or less
              a sender   Resting (ws, w)        the task that waits: there is no place
              give       Resting                the last task to pass a value: one place
                                                more, if ws is empty
              give       Moving (ws - w)        that task, otherwise; it calls w
              close    * Sealed                 any task; it calls all of ws, and serves
   Moving     move     * Counted, then Moving with a place less
                                                the moving task: w has accepted; then it
                                                serves, and moves on
              move       Moving (ws - w)        the moving task: w has refused, or was sent,
                                                and there is a place; it calls the next w
              move       Resting                the moving task: no place, or no sender, is
                                                left
              give       Moving                 the last task to pass a value: one place more
              close    * Closing                any task; it calls all of ws
   Closing    move       Counted, then Closing  the moving task: w had accepted; then it
                                                serves, and moves on
              move       Sealed                 the moving task; then it serves

   and senders come to [ws] of Resting and Moving, and withdraw; subscriptions come, leave
   and announce in all three.

   [left] of a value that is counted: how many subscriptions have not passed it. The task
   that makes it 0 gives a place.

   * linearises the operation; a receive that waited, when its resumer answers [true].
   If the resumer refuses, the next waiter gets the value, or the value stays. A send that
   waited is certain when its resumer answers [true], and linearises when its value is in
   the list.

   [last] is the link at the end, or one before it. A task that sees a node there advances
   it. It is never dropped: the node before the end is kept, as a limit is at least 1.

   [Waiting]: the subscription is announced at its link, by a notice in a queue like
   that of the waiters, or will be at once. The task that changes the link serves the
   subscription.

   A link that is [Dropped] refers to no other link. So a subscription that stays there
   keeps no values but those that the broadcast keeps. [index] is the number of values
   before a link, which tells how many were missed. Only broadcasts that drop count them.

   A value counts the subscriptions that there were when it came to the list, because
   their number changes in the same word. A subscription leaves at the end first, and then
   passes what it has not received up to there.

   While senders wait and the phase is [Resting], there is no place. While it is [Moving],
   all who come to send wait, so that no task overtakes the one whose value is being moved.

   The steps of a subscription also read its link. An old answer does no harm. If a step saw
   that nothing is there, the announcement that follows finds what came since. A link
   that has a value, is sealed or dropped, never becomes an end again. *)
type 'a link = 'a next Atomic.t

and 'a next =
  | End of { index : int }
  | Waited of { index : int; notices : 'a notices }
  | Held of 'a held
  | Node of { value : 'a; link : 'a link }
  | Counted of 'a counted
  | Sealed
  | Dropped of { index : int; oldest : 'a oldest Atomic.t }

and 'a notices = ('a subscription, unit) Waiters.t

and 'a held = {
  subscriptions : int;
  free : int;
  notices : 'a notices;
  senders : ('a, unit) Waiters.t;
  phase : phase;
  last : 'a link Atomic.t;  (** That of the broadcast. *)
}

and phase = Resting | Moving | Closing

and 'a counted = {
  value : 'a;
  link : 'a link;
  left : int Atomic.t;
  last : 'a link Atomic.t;  (** The same. *)
}

and 'a oldest = { link : 'a link; index : int }

and 'a state =
  | Reading of 'a link
  | Waiting of {
      link : 'a link;
      waiters : ('a subscription, 'a) Waiters.t;
      notice : ('a subscription, unit) Waiter.t;
    }
  | Serving of {
      link : 'a link;
      next : 'a link;  (** The position once the waiter has accepted. *)
      waiters : ('a subscription, 'a) Waiters.t;
    }

and 'a subscription = 'a state Atomic.t

exception Closed = Errors.Closed
exception Lagged = Errors.Lagged

type limit = Drop_oldest of int | Wait of int
type 'a dropping = { capacity : int; oldest : 'a oldest Atomic.t }
type 'a limited = Dropping of 'a dropping | Holding of int
type 'a t = { last : 'a link Atomic.t; limited : 'a limited option }

let uncounted = End { index = 0 }

let held capacity last =
  let notices = Waiters.empty and senders = Waiters.empty in
  let subscriptions = 0 and free = capacity and phase = Resting in
  Held { subscriptions; free; notices; senders; phase; last }

let check what n =
  if n < 1 then
    invalid_arg (Printf.sprintf "Broadcast.create: %s %d, which is < 1" what n)

let create ?name ?limit () =
  let link = Atomic.make uncounted in
  let last = Atomic.make link in
  let limited =
    match limit with
    | None -> None
    | Some (Drop_oldest capacity) ->
        check "Drop_oldest" capacity;
        Some (Dropping { capacity; oldest = Atomic.make { link; index = 0 } })
    | Some (Wait capacity) ->
        check "Wait" capacity;
        Atomic.set link (held capacity last);
        Some (Holding capacity)
  in
  Labels.made ~kind:"broadcast" ?name { last; limited }

(* --- At the end ----------------------------------------------------------- *)

(* Otherwise [last] would keep the values that were sent. *)
let pass_end answer link : _ Step.t =
  match Atomic.get link with
  | Node { link; _ } | Counted { link; _ } -> Become (link, Again)
  | End _ | Waited _ | Held _ | Sealed | Dropped _ -> Return (link, answer)

(* Of [last]: [step link] at the link at the end, which answers [Some]. *)
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
  | Dropped _ -> (* [last] is another one now *) Become (link, Again)
  | End _ | Waited _ | Held _ | Sealed ->
      Become (link, At (link, step, answered))

(* The value, and the end behind it. *)
let counted value h =
  let after = { h with free = h.free - 1; notices = Waiters.empty } in
  let link = Atomic.make (Held after) in
  ( Counted { value; link; left = Atomic.make h.subscriptions; last = h.last },
    link )

(* Without subscriptions a value takes no place. *)
let has_room h = h.free > 0 || h.subscriptions = 0

let must_wait h =
  match h.phase with
  | Resting -> not (has_room h && Waiters.is_empty h.senders)
  | Moving -> true
  | Closing -> false

(* --- Steps ---------------------------------------------------------------- *)

let finish () = Step.finished

(* A notice refuses everything. So the driver marks it as withdrawn when it is resumed, which is
   how it is withdrawn. *)
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

(* By each task that may be the first to know of more. *)
let rec serve : _ -> _ Step.t = function
  | Waiting { link; waiters; _ } when has_more link -> hand_out link waiters
  | (Waiting _ | Reading _ | Serving _) as state -> Return (state, ())

(* By the serving task, where the waiter has accepted. *)
and serve_on : _ -> _ Step.t = function
  | Serving { next; waiters; _ } -> hand_out next waiters
  | Reading _ | Waiting _ -> not_serving ()

(* The same, where it refuses. *)
and serve_again : _ -> _ Step.t = function
  | Serving { link; waiters; _ } -> hand_out link waiters
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
  let state = Serving { link; next; waiters = Waiters.tail waiters } in
  Hand_over { state; waiter = Waiters.head waiters; outcome; accepted; refused }

(* The subscription that ended meanwhile did not pass the value. *)
and serve_counted_again it link : _ -> _ Step.t = function
  | Serving serving as state when serving.link != link ->
      Become (state, pass it (fun () -> then_serve_again))
  | state -> serve_again state

(* Of a link. *)
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

(* One subscription has passed the value. *)
and pass :
    's 'r. 'a counted -> (unit -> ('s, 'r) Step.next) -> ('s, 'r) Step.next =
 fun { left; last; _ } k ->
  let passed = function
    | true -> Step.At (last, at_end (fun _ -> give), k)
    | false -> k ()
  in
  At (left, pass_one, passed)

(* Of the end. *)
and give : _ -> _ Step.t = function
  | Held h -> (
      let h = { h with free = h.free + 1 } in
      match h.phase with
      | Resting -> move (Held h)
      | Moving | Closing -> Return (Held h, moved))
  | state -> Return (state, moved)

(* Of the end, by the moving task, or one that becomes it. Other tasks neither append nor seal,
   so that the end stays where it is. *)
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

(* The same, where the sender has accepted. *)
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

(* By a task that does not find a value: the exception, if values were missed. *)
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

(* Of [oldest]: drops the values before the one with this index. *)
let advance_oldest word first (oldest : _ oldest) : _ Step.t =
  if oldest.index >= first then Return (oldest, ())
  else
    match Atomic.get oldest.link with
    | Node { link; _ } ->
        let next = { link; index = oldest.index + 1 } in
        Become (next, At (oldest.link, drop word oldest.index, fun () -> Again))
    | Counted _ | End _ | Waited _ | Held _ | Sealed | Dropped _ ->
        (* another task has advanced it meanwhile *)
        Become (oldest, Again)

let extended () = Step.Done true

let numbered { capacity; oldest } value index : _ * (unit -> _ Step.next) =
  let sent = index + 1 in
  let drop () =
    Step.At (oldest, advance_oldest oldest (sent - capacity), extended)
  in
  (Node { value; link = Atomic.make (End { index = sent }) }, drop)

let never_held () = assert false (* [put] and [seal] are for these *)

(* Of a link, where no sender waits: [next index] comes there, and what follows from that. Is
   it there now? It is [Wait] if the end is further on. *)
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

(* Of the end, as are the next ones. *)
let put value : _ -> _ Step.t = function
  | Held { phase = Closing; _ } as state -> Return (state, Some Over)
  | Held h as state when must_wait h -> Return (state, Some Full)
  | Held { subscriptions = 0; _ } as state -> Return (state, Some Sent)
  | Held h ->
      let next, _ = counted value h in
      Become (next, serve_all h.notices (fun () -> Done (Some Sent)))
  | state -> Return (state, Some Over)

(* If values are being moved, the moving task seals. *)
let seal : _ -> _ Step.t = function
  | Held { phase = Resting; senders; notices; _ } ->
      let sealed = serve_all notices (fun () -> Step.Done (Some ())) in
      Become (Sealed, Step.resume_all senders Errors.closed sealed)
  | Held ({ phase = Moving; senders; _ } as h) ->
      let ended = Step.resume_all senders Errors.closed (Done (Some ())) in
      Become (Held { h with phase = Closing; senders = Waiters.empty }, ended)
  | state -> Return (state, Some ())

(* Of [last]. *)
let put_step value = at_end (fun _ -> put value)
let seal_step () = at_end (fun _ -> seal)

(* --- Who subscribes ------------------------------------------------------- *)

let nowhere () = Atomic.make Sealed

(* Of the end, which is the position of [s] then. *)
let join s link state : _ Step.t =
  let begin_here _ : _ Step.t = Return (Reading link, ()) in
  let next = Step.At (s, begin_here, fun () -> Done (Some ())) in
  match state with
  | Held h -> Become (Held { h with subscriptions = h.subscriptions + 1 }, next)
  | state -> Become (state, next)

let join_step s = at_end (join s)

(* Of the end. The answer is the link at the end. *)
let leave link : _ -> _ Step.t = function
  | Held h ->
      Return (Held { h with subscriptions = h.subscriptions - 1 }, Some link)
  | state -> Return (state, Some link)

(* Of a link: one of its notices is withdrawn. *)
let withdraw_notice : _ -> _ Step.t = function
  | (End _ | Node _ | Counted _ | Sealed | Dropped _) as next ->
      Return (next, ())
  | Waited { index; notices } ->
      let notices = Waiters.count_withdrawn notices in
      if Waiters.is_empty notices then Return (End { index }, ())
      else Return (Waited { index; notices }, ())
  | Held h ->
      Return (Held { h with notices = Waiters.count_withdrawn h.notices }, ())

(* What follows when a subscription has left this position. *)
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
      let state = Serving { link; next = link; waiters = Waiters.empty } in
      let next = leave_from next in
      Become (state, Step.resume_all waiters Errors.closed next)

(* --- Who waits ------------------------------------------------------------ *)

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

let raise_lagged s =
  match Step.attempt s lag_step () with
  | None -> ()
  | Some lagged ->
      Errors.raised_by s lagged;
      raise lagged

let attempt s =
  match Step.attempt s receive_step s with
  | Some _ as received -> received
  | None ->
      raise_lagged s;
      None

(* More than the queue changes where the first waiter comes and where the last one leaves. *)
let receiving =
  {
    Operation.default with
    name = "Broadcast.receive";
    spin = Before;
    how =
      By_hand
        {
          attempt = (fun s _ -> attempt s);
          enlist = (fun s w -> Step.perform s enlist_step w);
          withdraw = (fun s w -> Step.withdraw_by s withdraw_step w);
        };
  }

(* Of the end, as is the next one. *)
let enlist_sender w : _ -> _ Step.t = function
  | Held h when must_wait h ->
      Return (Held { h with senders = Waiters.push h.senders w }, Some true)
  | state -> Return (state, Some false)

let withdraw_sender : _ -> _ Step.t = function
  | Held h ->
      let senders = Waiters.count_withdrawn h.senders in
      Return (Held { h with senders }, Some ())
  | state -> Return (state, Some ())

(* Of [last]. *)
let enlist_sender_step w = at_end (fun _ -> enlist_sender w)
let withdraw_sender_step (_ : _ Waiter.t) = at_end (fun _ -> withdraw_sender)

(* --- Receiving ------------------------------------------------------------ *)

let[@inline] try_receive s =
  match Atomic.get s with
  | Waiting _ | Serving _ -> None
  | Reading link as before -> (
      match Atomic.get link with
      | Node { value; link } ->
          let received = Some value in
          if Atomic.compare_and_set s before (Reading link) then received
          else attempt s
      | End _ | Waited _ | Held _ -> None
      | Counted _ | Sealed | Dropped _ -> attempt s)

let receive s =
  match try_receive s with Some v -> v | None -> Operation.wait receiving s s

let receive_evt s = Event.make receiving s s

let drain s =
  match Step.perform s drain_step () with
  | [] ->
      raise_lagged s;
      []
  | values -> values

(* --- Sending -------------------------------------------------------------- *)

let advance t before after =
  ignore (Atomic.compare_and_set t.last before after : bool)

let rec end_of t =
  let last = Atomic.get t.last in
  match Atomic.get last with
  | End _ | Waited _ | Held _ | Sealed -> last
  | Node { link; _ } | Counted { link; _ } ->
      advance t last link;
      end_of t
  | Dropped _ -> (* [t.last] is another one now *) end_of t

let advance_past t before = function
  | Node { link; _ } -> advance t before link
  | Counted _ | End _ | Waited _ | Held _ | Sealed | Dropped _ -> ()

(* Puts [next index] at the end. [false] if the broadcast is closed. *)
let rec extend t next =
  let last = end_of t in
  match Step.attempt last extend_step next with
  | Some extended ->
      if extended then advance_past t last (Atomic.get last);
      extended
  | None -> (* another send *) extend t next

(* One compare-and-set where nobody waits. *)
let send_unlimited t next =
  let last = end_of t in
  match Atomic.get last with
  | End _ as before when Atomic.compare_and_set last before next ->
      advance_past t last next;
      true
  | _ -> extend t (fun _ -> (next, extended))

let[@inline never] raise_closed t =
  Errors.raised_by t Closed;
  raise Closed

let put_by_steps t value =
  match Step.perform t.last put_step value with
  | Sent -> true
  | Full -> false
  | Over -> raise_closed t

(* [false] if the sender has to wait. One compare-and-set where nobody does. *)
let try_put t value =
  let last = end_of t in
  match Atomic.get last with
  | Held ({ phase = Resting; free; subscriptions; _ } as h) as before
    when free > 0 && subscriptions > 0 && Waiters.is_empty h.notices ->
      let next, link = counted value h in
      if Atomic.compare_and_set last before next then begin
        advance t last link;
        true
      end
      else (* any other transition *) put_by_steps t value
  | _ -> put_by_steps t value

let try_send t value =
  match t.limited with
  | None ->
      send_unlimited t (Node { value; link = Atomic.make uncounted })
      || raise_closed t
  | Some (Dropping dropping) ->
      extend t (numbered dropping value) || raise_closed t
  | Some (Holding _) -> try_put t value

let places t =
  match (t.limited, Atomic.get (end_of t)) with
  | Some (Holding capacity), Held { free; subscriptions; _ } ->
      Printf.sprintf "%d of %d values, %d subscriptions" (capacity - free)
        capacity subscriptions
  | _ -> ""

let sending =
  {
    Operation.default with
    name = "Broadcast.send";
    state = places;
    spin = Before;
    how =
      By_hand
        {
          attempt = (fun t v -> if try_send t v then Some () else None);
          enlist = (fun t w -> Step.perform t.last enlist_sender_step w);
          withdraw = (fun t w -> Step.withdraw_by t.last withdraw_sender_step w);
        };
  }

let send t value = if not (try_send t value) then Operation.wait sending t value
let send_evt t value = Event.make sending t value
let add_seq t seq = Seq.iter (send t) seq

let close t =
  match t.limited with
  | Some (Holding _) -> Step.perform t.last seal_step ()
  | Some (Dropping _) | None ->
      ignore (extend t (fun _ -> (Sealed, extended)) : bool)

let is_closed t =
  match Atomic.get (end_of t) with
  | Sealed | Held { phase = Closing; _ } -> true
  | End _ | Waited _ | Held _ | Node _ | Counted _ | Dropped _ -> false

(* --- Subscribing ---------------------------------------------------------- *)

let not_yet t = Labels.derived ~from:t (Atomic.make (Reading (nowhere ())))

let subscribe t =
  match t.limited with
  | Some (Holding _) ->
      let s = not_yet t in
      Step.perform t.last join_step s;
      s
  | Some (Dropping _) | None ->
      Labels.derived ~from:t (Atomic.make (Reading (end_of t)))

let unsubscribe s = Step.surely s unsubscribe_step ()
let never_fast _ _ = false

let with_subscription t f =
  let s = not_yet t in
  let f () = f s in
  match Step.perform t.last join_step s with
  | () -> Step.within ~fast:never_fast s unsubscribe_step () f
  | exception e ->
      let backtrace = Backtrace.get () in
      unsubscribe s;
      Printexc.raise_with_backtrace e backtrace

(* --- To the end ----------------------------------------------------------- *)

include Reader.Make (struct
  type nonrec 'a t = 'a subscription

  let take = receive
  let take_evt = receive_evt
end)

(* --- Looking at it -------------------------------------------------------- *)

let senders t =
  match Atomic.get (end_of t) with
  | Held { senders; _ } -> Waiters.length senders
  | End _ | Waited _ | Node _ | Counted _ | Sealed | Dropped _ -> 0

let waiters s =
  match Atomic.get s with
  | Reading _ -> 0
  | Waiting { waiters; _ } | Serving { waiters; _ } -> Waiters.length waiters
