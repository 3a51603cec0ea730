(* Scenes of pools and work queues. *)

open Concord
open Kit

(* [look] reads how many resources of a pool are in use or lost, and whether a full round
   works. An interrupted use may have made a resource, disposed of one, or done neither. All
   of these are right. [perform] gets the leases that [used] has obtained. *)
let pool_with_leases ?(idle = 0) ?(valid = true) ?(used = false)
    ?(closed = false) ?(wakes = false) ?waiting perform =
  let made = ref 0 and disposed = ref 0 and valid_now = ref true in
  let make () =
    incr made;
    !made
  and validate _ = !valid_now
  and dispose _ = incr disposed in
  let limit = Int.max 1 idle in
  let t = Pool.create ~validate ~dispose ~keep_after:(( == ) Boom) limit make in
  List.iter
    (Pool.give_back ~keep:true)
    (List.init idle (fun _ -> Pool.obtain t));
  let taken = if used then [ Pool.obtain t ] else [] in
  if closed then Pool.close t;
  valid_now := valid;
  let give_back lease =
    (* [perform] may have given it back *)
    try Pool.give_back ~keep:true lease with Invalid_argument _ -> ()
  in
  let before _ =
    List.iter give_back taken;
    []
  and left t =
    let lost = !made - !disposed - Pool.size t in
    let round =
      if Pool.is_closed t then [ Kit.closed; Pool.size t ]
      else if Pool.in_use t = Pool.capacity t then [ Scene.none ]
      else [ Pool.use t (fun _ -> 1) ]
    in
    Pool.in_use t :: lost :: round
  in
  let wake =
    if wakes then Some (fun _ -> List.iter give_back taken) else None
  in
  around t ?waiting ?wake ~before ~waiters:Pool.waiters ~left (perform taken)

let pool ?idle ?valid ?used ?closed ?wakes ?waiting perform =
  pool_with_leases ?idle ?valid ?used ?closed ?wakes ?waiting (fun _ t ->
      perform t)

let uses t = come (fun () -> Pool.use t (fun _ -> 1))
let refuses t = refuses_for (fun t -> Pool.use_evt t (fun _ -> 1)) t
let awaits = waits Pool.await_closed
let refuses_to_await = Kit.refuses Pool.await_closed_evt

let pools =
  let using =
    [
      ("Pool.use", fun t -> Pool.use t nothing);
      ( "Pool.use, raising",
        fun t -> raising (fun t f -> Pool.use t (fun _ -> f ())) t );
      ( "Pool.use, failing",
        fun t ->
          match Pool.use t (fun _ -> raise Not_found) with
          | v -> v
          | exception Not_found -> [] );
      ( "Pool.use, others come",
        fun t -> Pool.use t (fun _ -> arrive [ uses; refuses; uses ] t) );
    ]
    @ as_event "Pool.use" (fun t -> Pool.use_evt t nothing)
  (* The lease is not given back, so a resource that was obtained is in use. *)
  and obtaining =
    let keep (_ : int Pool.lease) = [] in
    ("Pool.obtain", fun t -> keep (Pool.obtain t))
    :: as_event "Pool.obtain" (fun t -> Event.wrap (Pool.obtain_evt t) keep)
  and trying =
    [
      ( "Pool.try_use",
        fun t -> Option.value (Pool.try_use t nothing) ~default:[ Scene.none ]
      );
      ( "Pool.try_obtain",
        fun t ->
          match Pool.try_obtain t with
          | None -> [ Scene.none ]
          | Some (_ : int Pool.lease) -> [] );
    ]
  and giving_back =
    let give_back ~keep leases _ =
      List.iter (Pool.give_back ~keep) leases;
      []
    in
    [
      ("Pool.give_back, keeping", give_back ~keep:true);
      ("Pool.give_back, disposing", give_back ~keep:false);
    ]
  and closing =
    [
      ("Pool.close", silent Pool.close);
      ("Pool.clear", silent Pool.clear);
      ("Pool.trim", silent Pool.trim);
    ]
  and waiting = [ refuses; uses; refuses; uses ] in
  let coming = using @ obtaining @ trying in
  in_state "none was made" pool coming
  @ in_state "one is idle" (pool ~idle:1) coming
  @ in_state "several are idle" (pool ~idle:3) using
  @ in_state "one is not valid" (pool ~idle:1 ~valid:false) coming
  @ in_state "one is used, and comes back"
      (pool ~used:true ~wakes:true)
      (unless_polled obtaining)
  @ in_state "one is used" (pool ~used:true) trying
  @ in_state "one is used" (pool_with_leases ~used:true) giving_back
  @ in_state "one is used, others wait"
      (pool_with_leases ~used:true ~waiting)
      giving_back
  @ in_state "one is used, and closed"
      (pool_with_leases ~used:true ~closed:true)
      giving_back
  @ in_state "closed" (pool ~closed:true)
      [
        ("Pool.use", fun t -> [ or_closed (fun () -> Pool.use t (fun _ -> 1)) ]);
      ]
  @ in_state "none was made" pool closing
  @ in_state "three are idle" (pool ~idle:3) closing
  @ in_state "one is used, others wait"
      (pool ~used:true ~waiting:(awaits :: refuses_to_await :: waiting))
      closing
  @ in_state "closed" (pool ~closed:true)
      (closing
      @ [ ("Pool.await_closed", silent Pool.await_closed) ]
      @ as_event "Pool.await_closed" (unit Pool.await_closed_evt))

(* --- Work_queue ------------------------------------------------------------------------ *)

let queue ?(items = []) ?(capacity = 2) ?(closed = false) ?waiting perform =
  let t = Work_queue.create capacity in
  let tickets = List.map (Work_queue.add t) items in
  if closed then Work_queue.close t;
  let left (t, _) =
    let next () = Option.join (Event.poll (Work_queue.next_evt t)) in
    let left = drain next in
    let round =
      if Work_queue.is_closed t then [ Kit.closed ]
      else begin
        let all = List.init capacity (fun i -> Work_queue.try_add t (50 + i)) in
        let added = List.length (List.filter Option.is_some all) in
        added :: Work_queue.drain t
      end
    in
    left @ (-3 :: round)
  in
  around (t, tickets) ?waiting ~left perform ~waiters:(fun (t, _) ->
      Work_queue.waiters t)

let queues =
  let of_queue f (t, _) = f t in
  let adds n (t, _) =
    come (fun () ->
        ignore (Work_queue.add t n : int Work_queue.ticket);
        1)
  and takes (t, _) = come (fun () -> Work_queue.take t)
  and refuses_to_take = refuses_for (fun (t, _) -> Work_queue.take_evt t)
  and refuses_to_add =
    refuses_for (fun (t, _) -> Event.wrap (Work_queue.add_evt t 9) (fun _ -> 1))
  in
  let or_closed f t = [ or_closed (fun () -> f t) ] in
  let adding =
    [
      ( "Work_queue.add",
        of_queue
          (or_closed (fun t ->
               ignore (Work_queue.add t 7 : _ Work_queue.ticket);
               0)) );
      ( "Work_queue.try_add",
        of_queue
          (or_closed (fun t -> Bool.to_int (Work_queue.try_add t 7 <> None))) );
    ]
  and taking =
    [
      ("Work_queue.take", of_queue (or_closed Work_queue.take));
      ( "Work_queue.try_take",
        of_queue
          (or_closed (fun t -> Option.value (Work_queue.try_take t) ~default:0))
      );
      ("Work_queue.next", of_queue (fun t -> none_or (Work_queue.next t)));
    ]
  and leaving =
    [
      ( "Work_queue.withdraw",
        fun (_, tickets) -> flag (Work_queue.withdraw (List.hd tickets)) );
      ("Work_queue.drain", of_queue Work_queue.drain);
    ]
  and closing = [ ("Work_queue.close", of_queue (silent Work_queue.close)) ] in
  let reading =
    let collect f t =
      let all = ref [] in
      f (fun v -> all := v :: !all) t;
      List.rev !all
    in
    [
      ("Work_queue.iter", of_queue (collect Work_queue.iter));
      ( "Work_queue.fold",
        of_queue (fun t -> Work_queue.fold (fun l v -> v :: l) [] t) );
      ( "Work_queue.to_seq",
        of_queue (fun t -> List.of_seq (Work_queue.to_seq t)) );
    ]
  in
  in_state "empty" queue adding
  @ in_state "empty" queue
      [
        ( "Work_queue.add_seq",
          of_queue (fun t ->
              Work_queue.add_seq t (List.to_seq [ 7 ]);
              []) );
      ]
  @ in_state "empty" queue
      [
        ( "Work_queue.add_evt, synced",
          of_queue (fun t ->
              ignore (Event.sync (Work_queue.add_evt t 7) : _ Work_queue.ticket);
              []) );
      ]
  @ in_state "tasks wait to take"
      (queue ~waiting:[ refuses_to_take; takes; refuses_to_take; takes ])
      (adding @ closing)
  @ in_state "two are there"
      (queue ~items:[ 1; 2 ])
      (taking @ leaving @ closing
      @ as_event "Work_queue.take" (number (of_queue Work_queue.take_evt))
      @ as_event "Work_queue.next" (fun (t, _) ->
          Event.wrap (Work_queue.next_evt t) none_or))
  @ in_state "tasks wait to add"
      (queue ~items:[ 1; 2 ]
         ~waiting:[ refuses_to_add; adds 3; refuses_to_add; adds 4 ])
      (taking @ leaving @ closing)
  @ in_state "closed"
      (queue ~items:[ 1 ] ~closed:true)
      (adding @ taking @ leaving @ closing @ reading)

let cases = pools @ queues
