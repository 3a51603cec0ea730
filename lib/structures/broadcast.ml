exception Closed = Closed.Closed

(* A list of values that grows at its end, in which each subscription has a place.

   A link
   State         Left by   To                   By whom
   End           send    * Node                 any task; then it advances [last]
                 announce  Waited [s]           a task that waits through s
                 close   * Sealed               any task
   Waited ss     send    * Node                 any task; then it serves all of ss
                 announce  Waited (ss, s)       a task that waits through s
                 withdraw  Waited (ss - s), or End
                                                the last to wait through s
                 close   * Sealed               any task; then it serves all of ss
   Node, Sealed  never (terminal)

   A subscription; [link] is its place: what comes next is there
   State            Left by          To                    By whom
   Reading link     receive, drain * Reading link'         any task
                    a waiter         Waiting (link, [w])   the task that waits; then
                                                           it announces
   Waiting (_, ws)  a waiter         Waiting (_, (ws, w))  the task that waits
                    cancelled waiter Waiting (_, ws - w)   the task that enlisted w
                    the last waiter  Reading link          the same, if no other is
                                                           left; then it withdraws
                                                           what was announced
                    serve            Serving (_, ws)       a task that finds a value or
                                                           the end
   Serving (_, ws)  a waiter         Serving (_, (ws, w))  the task that waits
                    cancelled waiter Serving (_, ws - w)   the task that enlisted w
                    serve          * Serving (_, ws - w)   that task: it calls w
                    serve            Reading               that task: none waits
                    serve            Waiting               that task: no value is left;
                                                           then it announces

   * linearises the operation; a receive that waited, when its resumer answers [true].
   If the resumer refuses, the next waiter gets the value, or it stays.

   [Waiting]: the subscription is announced at its link, by a notice in a queue like
   that of the waiters, or will be at once. The task that changes the link serves the
   subscription. *)
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
      waiters : (unit, 'a) Waiters.t;
      notice : ('a subscription, unit) Waiter.t;
    }
  | Serving of 'a link * (unit, 'a) Waiters.t

and 'a subscription = 'a state Atomic.t

type 'a t = { last : 'a link Atomic.t }

let create ?name () =
  Labels.made ~kind:"broadcast" ?name { last = Atomic.make (Atomic.make End) }

let advance t before after =
  ignore (Atomic.compare_and_set t.last before after : bool)

(* --- Receiving ------------------------------------------------------------ *)

let rec try_receive s =
  match Atomic.get s with
  | Reading link as before -> read s before link
  | Waiting _ | Serving _ -> None

and read s before link =
  match Atomic.get link with
  | Node { value; link } ->
      if Atomic.compare_and_set s before (Reading link) then Some value
      else (* another receive, or a waiter *) try_receive s
  | End | Waited _ -> None
  | Sealed ->
      Closed.by s;
      raise Closed

(* --- Serving -------------------------------------------------------------- *)

let has_more link =
  match Atomic.get link with Node _ | Sealed -> true | End | Waited _ -> false

let rec announce notice link =
  match Atomic.get link with
  | End ->
      let notices = Waiters.push Waiters.empty notice in
      if not (Atomic.compare_and_set link End (Waited notices)) then
        announce notice link
  | Waited notices as before ->
      let after = Waited (Waiters.push notices notice) in
      if not (Atomic.compare_and_set link before after) then
        announce notice link
  | Node _ | Sealed -> serve notice.Waiter.arg

(* Called by each task that may be the first to know that there is more. *)
and serve s =
  match Atomic.get s with
  | Waiting { link; waiters; _ } as before ->
      if has_more link then
        if Atomic.compare_and_set s before (Serving (link, waiters)) then
          hand_out s
        else (* a waiter came or withdrew, or another one serves *) serve s
  | Reading _ | Serving _ -> ()

and hand_out s =
  match Atomic.get s with
  | Serving (link, waiters) as before -> (
      if Waiters.is_empty waiters then
        begin if not (Atomic.compare_and_set s before (Reading link)) then
          hand_out s
        end
      else
        match Atomic.get link with
        | End | Waited _ ->
            let notice = notice s in
            let after = Waiting { link; waiters; notice } in
            if Atomic.compare_and_set s before after then announce notice link
            else (* a waiter came or withdrew *) hand_out s
        | Node { value; link = after } ->
            let w = Waiters.head waiters in
            let rest = Serving (link, Waiters.tail waiters)
            and outcome = Ok value in
            if Atomic.compare_and_set s before rest && Waiter.resume w outcome
            then move_on s after;
            (* the next one; or again, after a waiter came or withdrew *)
            hand_out s
        | Sealed ->
            let round = Waiters.round waiters Closed.outcome in
            if Atomic.compare_and_set s before (Reading link) then
              Waiters.resume_all round
            else (* a waiter came or withdrew *) hand_out s)
  | Reading _ | Waiting _ ->
      assert false (* only the serving task leaves [Serving] *)

(* Its resumer is never called: it only says that the notice is not gone. *)
and notice s =
  let notice = Waiter.make s in
  notice.resumer <- (fun _ -> true);
  notice

and move_on s link =
  match Atomic.get s with
  | Serving (_, waiters) as before ->
      if not (Atomic.compare_and_set s before (Serving (link, waiters))) then
        (* a waiter came or withdrew *)
        move_on s link
  | Reading _ | Waiting _ ->
      assert false (* only the serving task leaves [Serving] *)

(* --- Waiting -------------------------------------------------------------- *)

let rec enlist s w =
  match Atomic.get s with
  | Reading link as before ->
      (not (has_more link))
      &&
      let notice = notice s in
      let waiters = Waiters.push Waiters.empty w in
      if Atomic.compare_and_set s before (Waiting { link; waiters; notice })
      then begin
        announce notice link;
        true
      end
      else (* received, or another waiter *) enlist s w
  | Waiting waiting as before ->
      let waiters = Waiters.push waiting.waiters w in
      Atomic.compare_and_set s before (Waiting { waiting with waiters })
      ||
      (* another waiter, a withdrawal, or served *)
      enlist s w
  | Serving (link, waiters) as before ->
      Atomic.compare_and_set s before (Serving (link, Waiters.push waiters w))
      ||
      (* another waiter, a withdrawal, or served *)
      enlist s w

let withdraw_notice link =
  Atomically.update link @@ function
  | (End | Node _ | Sealed) as next -> next
  | Waited notices ->
      let notices = Waiters.count_gone notices in
      if Waiters.is_empty notices then End else Waited notices

let rec withdraw s w =
  match Atomic.get s with
  | Reading _ -> ()
  | Waiting ({ link; notice; _ } as waiting) as before ->
      let waiters = Waiters.count_gone waiting.waiters in
      if Waiters.is_empty waiters then
        if Atomic.compare_and_set s before (Reading link) then begin
          Waiter.mark_gone notice;
          withdraw_notice link
        end
        else withdraw s w
      else if
        not (Atomic.compare_and_set s before (Waiting { waiting with waiters }))
      then withdraw s w
  | Serving (link, waiters) as before ->
      let after = Serving (link, Waiters.count_gone waiters) in
      if not (Atomic.compare_and_set s before after) then withdraw s w

let receiving =
  { Operation.attempt = (fun s () -> try_receive s); enlist; withdraw }

let receive s =
  match try_receive s with Some v -> v | None -> Operation.wait receiving s ()

let receive_evt s = Event.make receiving s ()

(* --- Sending -------------------------------------------------------------- *)

(* Puts [next] at the end. Returns the link where the end was, with its notices. *)
let rec extend t next =
  let last = Atomic.get t.last in
  match Atomic.get last with
  | Node { link; _ } ->
      advance t last link;
      extend t next
  | Sealed -> None
  | End as before ->
      if Atomic.compare_and_set last before next then Some (last, Waiters.empty)
      else (* another send, a subscription, or closed *) extend t next
  | Waited notices as before ->
      if Atomic.compare_and_set last before next then Some (last, notices)
      else (* another send, a subscription, or closed *) extend t next

let serve_all notices = Waiters.iter (fun n -> serve n.Waiter.arg) notices

let send t value =
  let link = Atomic.make End in
  match extend t (Node { value; link }) with
  | None ->
      Closed.by t;
      raise Closed
  | Some (last, notices) ->
      advance t last link;
      serve_all notices

let close t =
  match extend t Sealed with
  | None -> ()
  | Some (_, notices) -> serve_all notices

let rec is_closed t =
  let last = Atomic.get t.last in
  match Atomic.get last with
  | Sealed -> true
  | End | Waited _ -> false
  | Node { link; _ } ->
      advance t last link;
      is_closed t

let rec subscribe t =
  let last = Atomic.get t.last in
  match Atomic.get last with
  | End | Waited _ | Sealed ->
      Labels.derived ~from:t (Atomic.make (Reading last))
  | Node { link; _ } ->
      advance t last link;
      subscribe t

let waiters s =
  match Atomic.get s with
  | Reading _ -> 0
  | Waiting { waiters; _ } | Serving (_, waiters) -> Waiters.length waiters

(* --- To the end ------------------------------------------------------------ *)

include Reader.Make (struct
  type nonrec 'a t = 'a subscription

  let take = receive
  let take_evt = receive_evt
end)

let rec collect link values =
  match Atomic.get link with
  | Node { value; link } -> collect link (value :: values)
  | End | Waited _ | Sealed -> (link, values)

let rec drain s =
  match Atomic.get s with
  | Waiting _ | Serving _ -> []
  | Reading link as before -> (
      match collect link [] with
      | _, [] -> []
      | link, values ->
          if Atomic.compare_and_set s before (Reading link) then List.rev values
          else (* a receive, or a waiter *) drain s)

let add_seq t seq = Seq.iter (send t) seq
