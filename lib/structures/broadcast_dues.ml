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

(* --- Serving -------------------------------------------------------------- *)

let has_more link =
  match Atomic.get link with Node _ | Sealed -> true | End | Waited _ -> false

(* What a task owes that has changed a link or the state of a subscription, the latest
   first. *)
type 'a due =
  | Serve_all of ('a subscription, unit) Waiters.t
  | Serve of 'a subscription  (** By each task that may know first of more. *)
  | Hand_out of 'a subscription  (** By the task that serves. *)
  | Move_on of 'a subscription * 'a link  (** Likewise. *)
  | Announce of ('a subscription, unit) Waiter.t * 'a link

(* Its resumer is never called: it only says that the notice is not gone. *)
let notice s =
  let notice = Waiter.make s in
  notice.resumer <- (fun _ -> true);
  notice

let not_serving () = assert false (* only the serving task leaves [Serving] *)

(* Each of these is one step, and [rest] is owed after it. One whose compare-and-set fails
   is done again. *)

let serve_all (debt : _ Debt.t) notices rest =
  debt.owed <-
    (if Waiters.is_empty notices then rest
     else
       let first = (Waiters.head notices).Waiter.arg
       and others = Waiters.tail notices in
       let rest =
         if Waiters.is_empty others then rest else Serve_all others :: rest
       in
       Serve first :: rest)

let serve (debt : _ Debt.t) s rest =
  match Atomic.get s with
  | Waiting { link; waiters; _ } as before when has_more link ->
      let after = Serving (link, waiters) and owed = Hand_out s :: rest in
      (* else a waiter came or withdrew, or another one serves *)
      if Atomic.compare_and_set s before after then debt.owed <- owed
  | Waiting _ | Reading _ | Serving _ -> debt.owed <- rest

let hand_out (debt : _ Debt.t) s rest =
  match Atomic.get s with
  | Serving (link, waiters) as before -> (
      if
        (* where a compare-and-set fails, a waiter came or withdrew *)
        Waiters.is_empty waiters
      then begin
        let after = Reading link in
        if Atomic.compare_and_set s before after then debt.owed <- rest
      end
      else
        match Atomic.get link with
        | End | Waited _ ->
            let notice = notice s in
            let after = Waiting { link; waiters; notice }
            and owed = Announce (notice, link) :: rest in
            if Atomic.compare_and_set s before after then debt.owed <- owed
        | Node { value; link = next } ->
            let w = Waiters.head waiters in
            let after = Serving (link, Waiters.tail waiters)
            and outcome = Ok value
            and owed = Move_on (s, next) :: rest in
            if
              Atomic.compare_and_set s before after
              && Debt.resume debt w outcome
            then debt.owed <- owed
        | Sealed ->
            let round = Waiters.round waiters Closed.outcome
            and after = Reading link in
            if Atomic.compare_and_set s before after then begin
              debt.owed <- rest;
              Waiters.resume_all round;
              ()
            end)
  | Reading _ | Waiting _ -> not_serving ()

let move_on (debt : _ Debt.t) s link rest =
  match Atomic.get s with
  | Serving (_, waiters) as before ->
      (* else a waiter came or withdrew *)
      if Waiters.is_empty waiters then begin
        let after = Reading link in
        if Atomic.compare_and_set s before after then debt.owed <- rest
      end
      else
        let after = Serving (link, waiters) and owed = Hand_out s :: rest in
        if Atomic.compare_and_set s before after then debt.owed <- owed
  | Reading _ | Waiting _ -> not_serving ()

let announce_once notice link =
  match Atomic.get link with
  | End ->
      let after = Waited (Waiters.push Waiters.empty notice) in
      Atomic.compare_and_set link End after
  | Waited notices as before ->
      let after = Waited (Waiters.push notices notice) in
      Atomic.compare_and_set link before after
  | Node _ | Sealed -> false

let announce (debt : _ Debt.t) notice link rest =
  if announce_once notice link then debt.owed <- rest
  else if has_more link then debt.owed <- Serve notice.Waiter.arg :: rest

let rec settle () (debt : _ due list Debt.t) =
  match debt.owed with
  | [] -> ()
  | due :: rest ->
      (match due with
      | Serve_all notices -> serve_all debt notices rest
      | Serve s -> serve debt s rest
      | Hand_out s -> hand_out debt s rest
      | Move_on (s, link) -> move_on debt s link rest
      | Announce (notice, link) -> announce debt notice link rest);
      settle () debt

let rec announce_slowly notice link =
  match Debt.owing [ Announce (notice, link) ] with
  | debt -> Debt.pay settle () debt
  | exception e ->
      (* a signal handler's *)
      announce_slowly notice link;
      raise e

let announce notice link =
  match announce_once notice link with
  | true -> ()
  | false ->
      announce_slowly notice link;
      ()
  | exception e ->
      announce_slowly notice link;
      raise e
