(** The state of a {!Broadcast}. *)

(* A broadcast is a linked list of values that grows at its end. A link is an Atomic. While no
   value has come there, it is the end of the list. Each subscription has a position, which is
   the link where its next value is or will be.

   A task that has to wait for a value waits in its subscription. The subscription announces
   itself at its link, by a notice that it puts there. The task that changes the link then
   serves each announced subscription, which means that it resumes the waiters there, as long
   as there are values for them.

   A broadcast may have a limit. Then either the oldest values are dropped (see [oldest] below),
   or senders wait until there is a free place (see Held below). A subscription passes a value
   when its position moves behind the value. A value takes one place until all subscriptions
   have passed it, and is Counted for that.

   A link
   State         Left by   To                   By whom
   End           send    * Node                 any task; it then advances [last], and
                                                [oldest] if values are dropped
                 announce  Waited [s]           a task that waits through s
                 close   * Sealed               any task
   Waited ss     send    * Node                 any task; it then serves all of ss, and does
                                                as above
                 announce  Waited (ss, s)       a task that waits through s
                 withdraw  Waited (ss - s), or End
                                                the last task to wait through s
                 close   * Sealed               any task; it then serves all of ss
   Held          see below
   Node          drop      Dropped              the task that advanced [oldest] past it
   Counted, Sealed, Dropped  never (terminal)

   A subscription, whose position is [link]
   State            Left by          To                    By whom
   Reading link     receive, drain * Reading link'         any task; it then passes the
                                                           values that are counted
                    lag            * Reading oldest        any task that finds Dropped at
                                                           [link]; it raises Lagged
                    a waiter         Waiting (link, [w])   the task that waits; it then
                                                           announces
                    unsubscribe    * Reading nowhere       any task; it then leaves
                    take_back      * Reading link', before link
                                                           a task whose value comes back
   Waiting (_, [w]) w withdraws      Reading link          the task that enlisted w; it
                                                           then withdraws the notice
   Waiting (_, ws)  serve          * Serving (_, ws - w)   a task that finds a value, or
                                                           Dropped; it resumes w
                    serve            Reading link          a task that finds the end of the
                                                           broadcast; it resumes all of ws
                    unsubscribe    * Reading nowhere       any task; it resumes all of ws,
                                                           withdraws the notice, and leaves
                    take_back      * Waiting (_, ws - w)   a task whose value comes back;
                                                           it resumes w
   Waiting (_, [w]) take_back      * Reading link          the same; it then withdraws the
                                                           notice
   Serving (_, ws)  take_back      * Serving, with the value in [back]
                                                           a task whose value comes back
                    serve          * Serving (_, ws - w)   the serving task; it resumes w
                    serve            Reading link'         that task, if none waits, or at
                                                           the end of the broadcast; it
                                                           resumes all of ws
                    serve            Waiting (link', ws)   that task, if no value is left;
                                                           it then announces
                    unsubscribe    * Serving nowhere       any task; it resumes all of ws,
                                                           and leaves

   In addition, waiters enter [ws] of Waiting and Serving, and withdraw. Nowhere is a link that
   is Sealed.

   [oldest], if values are dropped: the position of the oldest value that is kept
   State     Left by   To             By whom
   link      drop      its next link  a task that has sent, while more values are kept than
                                      the limit allows; it then makes [link] Dropped

   Held, the end of a broadcast whose senders wait. It has the number of subscriptions, the
   number of [free] places, the notices as in Waited, and the senders ws that wait
   Phase      Left by    To                     By whom
   Resting    send     * Counted, then Resting with a place less
                                                any task, if no sender has to wait; it then
                                                serves
              subscribe, leave                  any task: one subscription more, or less
              a sender   Resting (ws, w)        the task that waits, if there is no place
              give       Resting                the last task to pass a value: one place
                                                more, if ws is empty
              give       Moving (ws - w)        the same, if ws is not empty; it resumes w
              close    * Sealed                 any task; it resumes all of ws, and serves
   Moving     move     * Counted, then Moving with a place less
                                                the moving task, after w has accepted; it
                                                then serves, and moves on
              move       Moving (ws - w)        the moving task, if w has refused, or its
                                                value is in the list, and there is a place;
                                                it resumes the next w
              move       Resting                the moving task, if no place or no sender is
                                                left
              give       Moving                 the last task to pass a value: one place more
              close    * Closing                any task; it resumes all of ws
   Closing    move       Counted, then Closing  the moving task, if w had accepted; it then
                                                serves, and moves on
              move       Sealed                 the moving task; it then serves

   In addition, senders enter [ws] of Resting and Moving, and withdraw. Subscriptions come,
   leave and announce in all three phases.

   A value comes back if the task that received it was cancelled before it could continue. It
   then has a link of its own, which only this subscription reads. It took a place until it was
   received, and takes none now.

   [left], of a value that is Counted, is the number of subscriptions that have not passed it.
   The task that makes it 0 gives its place back.

   * linearises the operation. A receive that waited linearises when its resumer answers
   [true]. If the resumer refuses, the next waiter gets the value, or the value stays. A send
   that waited is certain when its resumer answers [true], and linearises when its value is in
   the list.

   [last] is the link at the end, or a link before it. A task that finds a value there advances
   [last]. This link is never Dropped, because a limit is at least 1, so the value before the
   end is kept. A task that finds it Dropped has read [last] before another task advanced it.

   While a subscription is [Waiting], it is announced at its link, or will be at once. Notices
   are in a queue of type {!Waiters.t}, because they come and are withdrawn as waiters do. The
   task that changes the link serves the subscription.

   A Dropped link refers to no other link. So a subscription that stays there keeps no values
   alive except those that the broadcast keeps. [index] is the number of values before a link.
   The number of missed values is computed from it, so only broadcasts that drop values count
   it.

   A Counted value counts the subscriptions that exist when it comes to the list. This number
   is exact, because it changes in the same word, the end. A subscription that leaves first
   subtracts itself at the end, and then passes the values up to there that it has not
   received.

   While senders wait in the phase Resting, there is no place. In the phase Moving, all new
   senders wait, so no task overtakes the one whose value is being moved.

   The steps of a subscription also read its link. An outdated answer does no harm. If a step
   saw no value there, the announcement that follows finds the values that came since. And a
   link that has a value, or is Sealed or Dropped, never becomes an end again. *)
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
      next : 'a link;  (** The position after the waiter has accepted. *)
      waiters : ('a subscription, 'a) Waiters.t;
      back : 'a list;  (** Values that came back meanwhile, first one first. *)
    }

and 'a subscription = 'a state Atomic.t

type 'a dropping = { capacity : int; oldest : 'a oldest Atomic.t }
type 'a limited = Dropping of 'a dropping | Holding of int
type 'a t = { last : 'a link Atomic.t; limited : 'a limited option }
