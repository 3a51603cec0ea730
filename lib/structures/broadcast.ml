(* A list of values that grows at its end, in which each subscription has a position.

   A link
   State         Left by   To                   By whom
   End           send    * Node                 any task; then it advances [last], and
                                                [oldest] if there is a limit
                 announce  Waited [s]           a task that waits through s
                 close   * Sealed               any task
   Waited ss     send    * Node                 any task; then it serves all of ss, and as
                                                above
                 announce  Waited (ss, s)       a task that waits through s
                 withdraw  Waited (ss - s), or End
                                                the last task to wait through s
                 close   * Sealed               any task; then it serves all of ss
   Node          drop      Dropped              the task that advanced [oldest] past it
   Sealed, Dropped  never (terminal)

   A subscription; [link] is its position: what comes next is there
   State            Left by          To                    By whom
   Reading link     receive, drain * Reading link'         any task
                    lag            * Reading oldest        any task that finds Dropped at
                                                           [link]; it raises Lagged
                    a waiter         Waiting (link, [w])   the task that waits; then
                                                           it announces
   Waiting (_, [w]) w withdraws      Reading link          the task that enlisted w;
                                                           then it withdraws what was
                                                           announced
   Waiting (_, ws)  serve          * Serving (_, ws - w)   a task that finds a value, or
                                                           Dropped; it calls w
                    serve            Reading link          a task that finds the end;
                                                           it calls all of ws
   Serving (_, ws)  serve          * Serving (_, ws - w)   the serving task: it calls w
                    serve            Reading link'         that task: none waits, or
                                                           the end; it calls all of ws
                    serve            Waiting (link', ws)   that task: no value is left;
                                                           then it announces

   and waiters come to [ws] of both, and withdraw.

   [oldest], if there is a limit: the position of the oldest value that is kept
   State     Left by   To             By whom
   link      drop      its next link  a task that has sent, while more values are kept than
                                      the limit allows; then it makes [link] Dropped

   * linearises the operation; a receive that waited, when its resumer answers [true].
   If the resumer refuses, the next waiter gets the value, or the value stays.

   [last] is the link at the end, or one before it. A task that sees a node there advances
   it. It is never dropped: the node before the end is kept, as a limit is at least 1.

   [Waiting]: the subscription is announced at its link, by a notice in a queue like
   that of the waiters, or will be at once. The task that changes the link serves the
   subscription.

   A link that is [Dropped] refers to no other link. So a subscription that stays there
   keeps no values but those that the broadcast keeps. [index] is the number of values
   before a link, which tells how many were missed. Only broadcasts with a limit count.

   The steps of a subscription also read its link. An old answer does no harm. If a step saw
   that nothing is there, the announcement that follows finds what came since. A link
   that has a value, is sealed or dropped, never becomes an end again. *)
type 'a link = 'a next Atomic.t

and 'a next =
  | End of { index : int }
  | Waited of { index : int; notices : ('a subscription, unit) Waiters.t }
  | Node of { value : 'a; link : 'a link }
  | Sealed
  | Dropped of { index : int; oldest : 'a oldest Atomic.t }

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

type limit = Drop_oldest of int
type 'a limited = { capacity : int; oldest : 'a oldest Atomic.t }
type 'a t = { last : 'a link Atomic.t; limited : 'a limited option }

let uncounted = End { index = 0 }

let create ?name ?limit () =
  let link = Atomic.make uncounted in
  let limited =
    match limit with
    | None -> None
    | Some (Drop_oldest capacity) ->
        if capacity < 1 then
          invalid_arg
            (Printf.sprintf "Broadcast.create: Drop_oldest %d, which is < 1"
               capacity);
        Some { capacity; oldest = Atomic.make { link; index = 0 } }
  in
  Labels.made ~kind:"broadcast" ?name { last = Atomic.make link; limited }

(* --- Steps ---------------------------------------------------------------- *)

let receive_step (_ : _ subscription) : _ -> _ Step.t = function
  | Waiting _ | Serving _ -> Wait
  | Reading link -> (
      match Atomic.get link with
      | Node { value; link } -> Return (Reading link, value)
      | End _ | Waited _ | Dropped _ -> Wait
      | Sealed -> Raise Closed)

(* By a task that does not find a value: the exception, if values were missed. *)
let lag_step () : _ -> _ Step.t = function
  | Waiting _ | Serving _ -> Wait
  | Reading link -> (
      match Atomic.get link with
      | Dropped { index; oldest } ->
          let oldest = Atomic.get oldest in
          Return (Reading oldest.link, Lagged (oldest.index - index))
      | Node _ | End _ | Waited _ | Sealed -> Wait)

let rec collect link values =
  match Atomic.get link with
  | Node { value; link } -> collect link (value :: values)
  | End _ | Waited _ | Sealed | Dropped _ -> (link, values)

let drain_step () : _ -> _ Step.t = function
  | (Waiting _ | Serving _) as state -> Return (state, [])
  | Reading link as state -> (
      match collect link [] with
      | _, [] -> Return (state, [])
      | link, values -> Return (Reading link, List.rev values))

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
  | Node _ | Sealed | Dropped _ -> true
  | End _ | Waited _ -> false

let not_serving () = assert false (* only the serving task leaves [Serving] *)

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
    | Node { value; link = next } -> hand_over (Ok value) ~link ~next waiters
    | Dropped { index; oldest } ->
        let oldest = Atomic.get oldest in
        let lagged = Error (Lagged (oldest.index - index)) in
        hand_over lagged ~link ~next:oldest.link waiters
    | Sealed ->
        let next = Step.resume_all waiters Errors.closed Step.finished in
        Become (Reading link, next)
    | End _ | Waited _ ->
        let notice = notice w.arg in
        let next = Step.At (link, announce notice, finish) in
        Become (Waiting { link; waiters; notice }, next)

and hand_over outcome ~link ~next waiters : _ Step.t =
  Hand_over
    {
      state = Serving { link; next; waiters = Waiters.tail waiters };
      waiter = Waiters.head waiters;
      outcome;
      accepted = then_serve_on;
      refused = then_serve_again;
    }

(* Of a link. *)
and announce notice : _ -> _ Step.t = function
  | End { index } ->
      Return (Waited { index; notices = Waiters.push Waiters.empty notice }, ())
  | Waited { index; notices } ->
      Return (Waited { index; notices = Waiters.push notices notice }, ())
  | (Node _ | Sealed | Dropped _) as next ->
      Become (next, At (notice.arg, serve, finish))

let rec serve_all notices k =
  let s = (Waiters.head notices).Waiter.arg in
  let others = Waiters.tail notices in
  if Waiters.is_empty others then Step.At (s, serve, k)
  else Step.At (s, serve, fun () -> serve_all others k)

let drop oldest index : _ -> _ Step.t = function
  | Node _ -> Return (Dropped { index; oldest }, ())
  | (End _ | Waited _ | Sealed | Dropped _) as next -> Return (next, ())

(* Of [oldest]: drops the values before the one with this index. *)
let advance_oldest word first (oldest : _ oldest) : _ Step.t =
  if oldest.index >= first then Return (oldest, ())
  else
    match Atomic.get oldest.link with
    | Node { link; _ } ->
        let next = { link; index = oldest.index + 1 } in
        Become (next, At (oldest.link, drop word oldest.index, fun () -> Again))
    | End _ | Waited _ | Sealed | Dropped _ ->
        (* another task has advanced it meanwhile *)
        Become (oldest, Again)

let extended () = Step.Done true

let counted { capacity; oldest } value index : _ * (unit -> _ Step.next) =
  let sent = index + 1 in
  let drop () =
    Step.At (oldest, advance_oldest oldest (sent - capacity), extended)
  in
  (Node { value; link = Atomic.make (End { index = sent }) }, drop)

(* Of a link: [next index] comes there, and what follows from that. Is it there now? It is
   [Wait] if the end is further on. *)
let extend_step next : _ -> _ Step.t = function
  | Node _ | Dropped _ -> Wait
  | Sealed -> Return (Sealed, false)
  | End { index } ->
      let next, k = next index in
      Become (next, k ())
  | Waited { index; notices } ->
      let next, k = next index in
      Become (next, serve_all notices k)

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

(* Of a link: one of its notices is withdrawn. *)
let withdraw_notice : _ -> _ Step.t = function
  | (End _ | Node _ | Sealed | Dropped _) as next -> Return (next, ())
  | Waited { index; notices } ->
      let notices = Waiters.count_withdrawn notices in
      if Waiters.is_empty notices then Return (End { index }, ())
      else Return (Waited { index; notices }, ())

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
      | End _ | Waited _ -> None
      | Sealed | Dropped _ -> attempt s)

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
  | End _ | Waited _ | Sealed -> last
  | Node { link; _ } ->
      advance t last link;
      end_of t
  | Dropped _ -> (* [t.last] is another one now *) end_of t

let advance_past t before = function
  | Node { link; _ } -> advance t before link
  | End _ | Waited _ | Sealed | Dropped _ -> ()

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

let send t value =
  let sent =
    match t.limited with
    | None -> send_unlimited t (Node { value; link = Atomic.make uncounted })
    | Some limited -> extend t (counted limited value)
  in
  if not sent then begin
    Errors.raised_by t Closed;
    raise Closed
  end

let add_seq t seq = Seq.iter (send t) seq
let close t = ignore (extend t (fun _ -> (Sealed, extended)) : bool)

let is_closed t =
  match Atomic.get (end_of t) with
  | Sealed -> true
  | End _ | Waited _ | Node _ | Dropped _ -> false

let subscribe t = Labels.derived ~from:t (Atomic.make (Reading (end_of t)))

(* --- To the end ----------------------------------------------------------- *)

include Reader.Make (struct
  type nonrec 'a t = 'a subscription

  let take = receive
  let take_evt = receive_evt
end)

(* --- Looking at it -------------------------------------------------------- *)

let waiters s =
  match Atomic.get s with
  | Reading _ -> 0
  | Waiting { waiters; _ } | Serving { waiters; _ } -> Waiters.length waiters
