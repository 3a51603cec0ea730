exception Closed = Closed.Closed

include Broadcast_dues

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

(* --- Waiting -------------------------------------------------------------- *)

let rec enlist s w =
  match Atomic.get s with
  | Reading link as before ->
      (not (has_more link))
      &&
      let notice = notice s in
      let waiters = Waiters.push Waiters.empty w in
      let after = Waiting { link; waiters; notice } in
      if Atomic.compare_and_set s before after then begin
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
  {
    Operation.name = "Broadcast.receive";
    spin = Before;
    observe = Waits.unobserved;
    how = By_hand { attempt = (fun s () -> try_receive s); enlist; withdraw };
  }

let receive s =
  match try_receive s with Some v -> v | None -> Operation.wait receiving s ()

let receive_evt s = Event.make receiving s ()

(* --- Sending -------------------------------------------------------------- *)

type 'a extended = Was_sealed | Unheard | Heard of 'a due list Debt.t

let advance_past t before = function
  | Node { link; _ } -> advance t before link
  | End | Waited _ | Sealed -> ()

(* Puts [next] at the end. *)
let rec extend t next =
  let last = Atomic.get t.last in
  match Atomic.get last with
  | Node { link; _ } ->
      advance t last link;
      extend t next
  | Sealed -> Was_sealed
  | End as before ->
      if Atomic.compare_and_set last before next then begin
        advance_past t last next;
        Unheard
      end
      else (* another send, a subscription, or closed *) extend t next
  | Waited notices as before ->
      let heard = Heard (Debt.owing [ Serve_all notices ]) in
      if Atomic.compare_and_set last before next then begin
        advance_past t last next;
        heard
      end
      else (* another send, a subscription, or closed *) extend t next

let send t value =
  match extend t (Node { value; link = Atomic.make End }) with
  | Heard debt -> Debt.pay settle () debt
  | Unheard -> ()
  | Was_sealed ->
      Closed.by t;
      raise Closed

let close t =
  match extend t Sealed with
  | Heard debt -> Debt.pay settle () debt
  | Unheard | Was_sealed -> ()

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
