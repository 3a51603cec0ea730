(* A list of values that grows at its end, in which each subscription has a position.

   A link
   State         Left by   To                   By whom
   End           send    * Node                 any task; then it advances [last]
                 announce  Waited [s]           a task that waits through s
                 close   * Sealed               any task
   Waited ss     send    * Node                 any task; then it serves all of ss
                 announce  Waited (ss, s)       a task that waits through s
                 withdraw  Waited (ss - s), or End
                                                the last task to wait through s
                 close   * Sealed               any task; then it serves all of ss
   Node, Sealed  never (terminal)

   A subscription; [link] is its position: what comes next is there
   State            Left by          To                    By whom
   Reading link     receive, drain * Reading link'         any task
                    a waiter         Waiting (link, [w])   the task that waits; then
                                                           it announces
   Waiting (_, [w]) w withdraws      Reading link          the task that enlisted w;
                                                           then it withdraws what was
                                                           announced
   Waiting (_, ws)  serve          * Serving (_, ws - w)   a task that finds a value;
                                                           it calls w
                    serve            Reading link          a task that finds the end;
                                                           it calls all of ws
   Serving (_, ws)  serve          * Serving (_, ws - w)   the serving task: it calls w
                    serve            Reading link'         that task: none waits, or
                                                           the end; it calls all of ws
                    serve            Waiting (link', ws)   that task: no value is left;
                                                           then it announces

   and waiters come to [ws] of both, and withdraw.

   * linearises the operation; a receive that waited, when its resumer answers [true].
   If the resumer refuses, the next waiter gets the value, or the value stays.

   [last] is the link at the end, or one before it. A task that sees a node there advances
   it.

   [Waiting]: the subscription is announced at its link, by a notice in a queue like
   that of the waiters, or will be at once. The task that changes the link serves the
   subscription.

   The steps of a subscription also read its link. An old answer does no harm. If a step saw
   that nothing is there, the announcement that follows finds what came since. A link
   that has a value, or is sealed, stays so. *)
type 'a link = 'a next Atomic.t

and 'a next =
  | End
  | Waited of ('a subscription, unit) Waiters.t
  | Node of { value : 'a; link : 'a link }
  | Sealed

and 'a state =
  | Reading of 'a link
  | Waiting of {
      link : 'a link;
      waiters : ('a subscription, 'a) Waiters.t;
      notice : ('a subscription, unit) Waiter.t;
    }
  | Serving of 'a link * ('a subscription, 'a) Waiters.t

and 'a subscription = 'a state Atomic.t

exception Closed = Errors.Closed

type 'a t = { last : 'a link Atomic.t }

let create ?name () =
  Labels.made ~kind:"broadcast" ?name { last = Atomic.make (Atomic.make End) }

(* --- Steps ---------------------------------------------------------------- *)

let receive_step (_ : _ subscription) : _ -> _ Step.t = function
  | Waiting _ | Serving _ -> Wait
  | Reading link -> (
      match Atomic.get link with
      | Node { value; link } -> Return (Reading link, value)
      | End | Waited _ -> Wait
      | Sealed -> Raise Closed)

let rec collect link values =
  match Atomic.get link with
  | Node { value; link } -> collect link (value :: values)
  | End | Waited _ | Sealed -> (link, values)

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
  match Atomic.get link with Node _ | Sealed -> true | End | Waited _ -> false

let not_serving () = assert false (* only the serving task leaves [Serving] *)

(* By each task that may be the first to know of more. *)
let rec serve : _ -> _ Step.t = function
  | Waiting { link; waiters; _ } when has_more link -> hand_out link waiters
  | (Waiting _ | Reading _ | Serving _) as state -> Return (state, ())

(* By the serving task, where the value at [link] was taken. *)
and serve_on : _ -> _ Step.t = function
  | Serving (link, waiters) -> (
      match Atomic.get link with
      | Node { link; _ } -> hand_out link waiters
      | End | Waited _ | Sealed -> not_serving ())
  | Reading _ | Waiting _ -> not_serving ()

(* The same, where it was refused. *)
and serve_again : _ -> _ Step.t = function
  | Serving (link, waiters) -> hand_out link waiters
  | Reading _ | Waiting _ -> not_serving ()

and then_serve_on = Step.Then (fun state -> serve_on state)
and then_serve_again = Step.Then (fun state -> serve_again state)

and hand_out link waiters : _ Step.t =
  if Waiters.is_empty waiters then Return (Reading link, ())
  else
    let w = Waiters.head waiters in
    match Atomic.get link with
    | Node { value; _ } ->
        Hand_over
          {
            state = Serving (link, Waiters.tail waiters);
            waiter = w;
            outcome = Ok value;
            accepted = then_serve_on;
            refused = then_serve_again;
          }
    | Sealed ->
        let next = Step.resume_all waiters Errors.closed Step.finished in
        Become (Reading link, next)
    | End | Waited _ ->
        let notice = notice w.arg in
        let next = Step.At (link, announce notice, finish) in
        Become (Waiting { link; waiters; notice }, next)

(* Of a link. *)
and announce notice : _ -> _ Step.t = function
  | End -> Return (Waited (Waiters.push Waiters.empty notice), ())
  | Waited notices -> Return (Waited (Waiters.push notices notice), ())
  | (Node _ | Sealed) as next -> Become (next, At (notice.arg, serve, finish))

let extended () = Step.Done true

let rec serve_all notices =
  let s = (Waiters.head notices).Waiter.arg in
  let others = Waiters.tail notices in
  if Waiters.is_empty others then Step.At (s, serve, extended)
  else Step.At (s, serve, fun () -> serve_all others)

(* Of a link: is [next] there now? It is [Wait] if the end is further on. *)
let extend_step next : _ -> _ Step.t = function
  | Node _ -> Wait
  | Sealed -> Return (Sealed, false)
  | End -> Return (next, true)
  | Waited notices -> Become (next, serve_all notices)

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
  | Serving (link, waiters) ->
      Return (Serving (link, Waiters.push waiters w), true)

(* Of a link: one of its notices is withdrawn. *)
let withdraw_notice : _ -> _ Step.t = function
  | (End | Node _ | Sealed) as next -> Return (next, ())
  | Waited notices ->
      let notices = Waiters.count_withdrawn notices in
      Return ((if Waiters.is_empty notices then End else Waited notices), ())

let withdraw_step (_ : _ Waiter.t) : _ -> _ Step.t = function
  | Reading _ as state -> Return (state, ())
  | Serving (link, waiters) ->
      Return (Serving (link, Waiters.count_withdrawn waiters), ())
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

(* More than the queue changes where the first waiter comes and where the last one leaves. *)
let receiving =
  {
    Operation.default with
    name = "Broadcast.receive";
    spin = Before;
    how =
      By_hand
        {
          attempt = (fun s _ -> Step.attempt s receive_step s);
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
          else Step.attempt s receive_step s
      | End | Waited _ -> None
      | Sealed -> Step.attempt s receive_step s)

let receive s =
  match try_receive s with Some v -> v | None -> Operation.wait receiving s s

let receive_evt s = Event.make receiving s s
let drain s = Step.perform s drain_step ()

(* --- Sending -------------------------------------------------------------- *)

let advance t before after =
  ignore (Atomic.compare_and_set t.last before after : bool)

let rec end_of t =
  let last = Atomic.get t.last in
  match Atomic.get last with
  | End | Waited _ | Sealed -> last
  | Node { link; _ } ->
      advance t last link;
      end_of t

let advance_past t before = function
  | Node { link; _ } -> advance t before link
  | End | Waited _ | Sealed -> ()

(* Puts [next] at the end. [false] if the broadcast is closed. *)
let rec extend t next =
  let last = end_of t in
  match Atomic.get last with
  | End when Atomic.compare_and_set last End next ->
      advance_past t last next;
      true
  | _ -> (
      match Step.attempt last extend_step next with
      | Some extended ->
          if extended then advance_past t last next;
          extended
      | None -> (* another send *) extend t next)

let send t value =
  if not (extend t (Node { value; link = Atomic.make End })) then begin
    Errors.raised_by t Closed;
    raise Closed
  end

let add_seq t seq = Seq.iter (send t) seq
let close t = ignore (extend t Sealed : bool)

let is_closed t =
  match Atomic.get (end_of t) with
  | Sealed -> true
  | End | Waited _ | Node _ -> false

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
  | Waiting { waiters; _ } | Serving (_, waiters) -> Waiters.length waiters
