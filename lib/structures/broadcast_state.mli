(** The state of a {!Broadcast}. *)

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
   it. It is never dropped, because a limit is at least 1, so the node before the end is
   kept.

      In [Waiting], the subscription is announced at its link, or will be at once. The notice is
   in a queue like that of the waiters. The task that changes the link serves the
   subscription.

      A link that is [Dropped] refers to no other link. So a subscription that stays there
   keeps only the values that the broadcast keeps. [index] is the number of values before a
   link, from which the number of missed values is computed. Only broadcasts that drop values
   count them.

   A value counts the subscriptions that there were when it came to the list, because
   their number changes in the same word. A subscription leaves at the end first, and then
   passes what it has not received up to there.

      While senders wait and the phase is [Resting], there is no place. While it is [Moving],
   all new senders wait, so that no task overtakes the one whose value is being moved.

      The steps of a subscription also read its link. An outdated answer does no harm. If a step
   saw no value there, the announcement that follows finds the values that came since. A
   link that has a value, is sealed or dropped, never becomes an end again. *)
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
  last : 'a link Atomic.t;  (** The [last] of the broadcast. *)
}

and phase = Resting | Moving | Closing

and 'a counted = {
  value : 'a;
  link : 'a link;
  left : int Atomic.t;
  last : 'a link Atomic.t;  (** The [last] of the broadcast. *)
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

type 'a dropping = { capacity : int; oldest : 'a oldest Atomic.t }
type 'a limited = Dropping of 'a dropping | Holding of int
type 'a t = { last : 'a link Atomic.t; limited : 'a limited option }
