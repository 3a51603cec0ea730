(* Values for every subscription, in the order in which they were sent. The tables of states
   are in [Broadcast_state], and the steps in [Broadcast_steps]. *)
open Broadcast_state
open Broadcast_steps

type 'a t = 'a Broadcast_state.t
type 'a subscription = 'a Broadcast_state.subscription

exception Closed = Errors.Closed
exception Lagged = Errors.Lagged

type limit = Drop_oldest of int | Wait of int

let check what n =
  if n < 1 then
    invalid_arg
      (Printf.sprintf
         "Broadcast.create: the limit is %s %d, but must be at least 1" what n)

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
  Observer.made ~kind:"broadcast" ?name { last; limited }

(* --- Receiving ------------------------------------------------------------ *)

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

let undo_receive s (_ : _ subscription) v =
  Step.surely s take_back_step v;
  true

(* This is not [Step.withdraw], because more than the queue changes when the first waiter comes
   and when the last one leaves. *)
let receiving =
  {
    Operation.default with
    name = "Broadcast.receive";
    undo = undo_receive;
    spin = Before;
    how =
      By_hand
        {
          attempt = (fun s _ -> attempt s);
          enlist = (fun s w -> Step.perform s enlist_step w);
          withdraw = (fun s w -> Step.withdraw_by s withdraw_step w);
        };
  }

(* A value that counts is mostly received by these two changes. Unbroken between them, because
   the subscription has to pass the value. *)
let[@inline never] receive_counted s before =
  match before with
  | Waiting _ | Serving _ -> attempt s
  | Reading link -> (
      match Atomic.get link with
      | Counted { value; link; left; last } ->
          let received = Some value in
          if Atomic.compare_and_set s before (Reading link) then begin
            if Atomic.fetch_and_add left (-1) = 1 then
              Step.surely last give_step ();
            received
          end
          else (* another receive *) attempt s
      | Node _ | End _ | Waited _ | Held _ | Sealed | Dropped _ -> attempt s)

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
      | Counted _ -> receive_counted s before
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
  | End _ | Waited _ | Held _ | Sealed -> last
  | Node { link; _ } | Counted { link; _ } ->
      advance t last link;
      end_of t
  | Dropped _ -> (* [t.last] is another link now *) end_of t

let advance_past t before = function
  | Node { link; _ } -> advance t before link
  | Counted _ | End _ | Waited _ | Held _ | Sealed | Dropped _ -> ()

(* Replaces the end by [next index]. Returns [false] if the broadcast is closed. *)
let rec extend t next =
  let last = end_of t in
  match Step.attempt last extend_step next with
  | Some extended ->
      if extended then advance_past t last (Atomic.get last);
      extended
  | None -> (* another send *) extend t next

(* If no task waits, this is one compare-and-set. *)
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

(* Returns [false] if the sender has to wait. If no task waits, this is one compare-and-set. *)
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
      Printf.sprintf "%d of %d values, %d subscription%s" (capacity - free)
        capacity subscriptions
        (if subscriptions = 1 then "" else "s")
  | _ -> ""

(* --- Which subscription lags ---------------------------------------------- *)

let position s =
  match Atomic.get s with
  | Reading link | Waiting { link; _ } | Serving { link; _ } -> link

let has_ended s =
  match Atomic.get (position s) with
  | Sealed -> true
  | End _ | Waited _ | Held _ | Node _ | Counted _ | Dropped _ -> false

let rec unread n link =
  match Atomic.get link with
  | Node { link; _ } | Counted { link; _ } -> unread (n + 1) link
  | End _ | Waited _ | Held _ | Sealed | Dropped _ -> n

(* A place is taken until the last subscription has received the value. *)
let lags t s =
  match (t.limited, Atomic.get (end_of t)) with
  | Some (Holding capacity), Held { free; _ } ->
      free < capacity && unread 0 (position s) >= capacity - free
  | _ -> false

(* Called before the subscription begins. *)
let tell_subscriber t s =
  Filler.add_receiver t
    ~ends_waits:(fun () -> lags t s)
    ~is_over:(fun () -> has_ended s)

let sending =
  {
    Operation.default with
    name = "Broadcast.send";
    undo = Operation.undo_nothing;
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
let send_seq t seq = Seq.iter (send t) seq

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

let not_yet t = Observer.derived ~from:t (Atomic.make (Reading (nowhere ())))

let subscribe t =
  match t.limited with
  | Some (Holding _) ->
      let s = not_yet t in
      tell_subscriber t s;
      Step.perform t.last join_step s;
      s
  | Some (Dropping _) | None ->
      Observer.derived ~from:t (Atomic.make (Reading (end_of t)))

let unsubscribe s = Step.surely s unsubscribe_step ()
let never_fast _ _ = false

let with_subscription t f =
  let s = not_yet t in
  tell_subscriber t s;
  let f () = f s in
  match Step.perform t.last join_step s with
  | () -> Step.within ~fast:never_fast s unsubscribe_step () f
  | exception e ->
      let backtrace = Backtrace.get () in
      unsubscribe s;
      Printexc.raise_with_backtrace e backtrace

(* --- Reading to the end --------------------------------------------------- *)

include Reader.Make (struct
  type nonrec 'a t = 'a subscription

  let take = receive
  let take_evt = receive_evt
end)

(* --- Inspecting the broadcast --------------------------------------------- *)

let senders t =
  match Atomic.get (end_of t) with
  | Held { senders; _ } -> Waiters.length senders
  | End _ | Waited _ | Node _ | Counted _ | Sealed | Dropped _ -> 0

let waiters s =
  match Atomic.get s with
  | Reading _ -> 0
  | Waiting { waiters; _ } | Serving { waiters; _ } -> Waiters.length waiters
