(* The operations of Broadcast and Channel that never wait, against models. *)

open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

module Broadcasts (Limit : sig
  val limit : Broadcast.limit option
end) =
struct
  (* Two subscriptions. On one domain, the first one may be replaced. If senders wait, this
     ends the earlier subscription. *)
  type sut = {
    t : int Broadcast.t;
    subscriptions : int Broadcast.subscription array;
  }

  (* [missed] is how many missed values each subscription still has to be told about. *)
  type state = {
    pending : int list array;
    missed : int array;
    ended : bool array;
    closed : bool;
  }

  type cmd =
    | Send of int
    | Try_send of int
    | Poll_send of int
    | Try_receive of int
    | Poll of int
    | Receive of int
    | Drain of int
    | Subscribe
    | Unsubscribe of int
    | Close
    | Is_closed
    | Waiters of int
    | Senders

  let show_cmd = function
    | Send v -> Printf.sprintf "send %d" v
    | Try_send v -> Printf.sprintf "try_send %d" v
    | Poll_send v -> Printf.sprintf "poll (send_evt %d)" v
    | Try_receive i -> Printf.sprintf "try_receive s%d" i
    | Poll i -> Printf.sprintf "poll (receive_evt s%d)" i
    | Receive i -> Printf.sprintf "receive s%d" i
    | Drain i -> Printf.sprintf "drain s%d" i
    | Subscribe -> "subscribe"
    | Unsubscribe i -> Printf.sprintf "unsubscribe s%d" i
    | Close -> "close"
    | Is_closed -> "is_closed"
    | Waiters i -> Printf.sprintf "waiters s%d" i
    | Senders -> "senders"

  let init_state =
    {
      pending = [| []; [] |];
      missed = [| 0; 0 |];
      ended = [| false; false |];
      closed = false;
    }

  let init_sut () =
    let t = Broadcast.create ?limit:Limit.limit () in
    { t; subscriptions = Array.init 2 (fun _ -> Broadcast.subscribe t) }

  let cleanup _ = ()

  (* Each generator is used as often as its number says. *)
  let weighted gens =
    Gen.oneof
      (List.concat_map (fun (n, gen) -> List.init n (fun _ -> gen)) gens)

  let which = Gen.int_bound 1

  let never_wait =
    [
      (3, Gen.map (fun v -> Try_send v) (Gen.int_bound 99));
      (2, Gen.map (fun v -> Poll_send v) (Gen.int_bound 99));
      (4, Gen.map (fun i -> Try_receive i) which);
      (2, Gen.map (fun i -> Poll i) which);
      (1, Gen.map (fun i -> Drain i) which);
      (1, Gen.return Is_closed);
      (1, Gen.return Close);
      (1, Gen.map (fun i -> Waiters i) which);
      (1, Gen.return Senders);
    ]

  let arb_cmd _ =
    make ~print:show_cmd
      (weighted
         ((1, Gen.return Subscribe)
         :: (1, Gen.map (fun i -> Unsubscribe i) which)
         :: (3, Gen.map (fun v -> Send v) (Gen.int_bound 99))
         :: (3, Gen.map (fun i -> Receive i) which)
         :: never_wait))

  let has_room state =
    match Limit.limit with
    | Some (Wait n) ->
        Array.for_all (fun items -> List.length items < n) state.pending
    | Some (Drop_oldest _) | None -> true

  (* A subscription that has ended receives no further values. *)
  let is_at_end state i = state.closed || state.ended.(i)

  let precond cmd state =
    match cmd with
    | Receive i ->
        is_at_end state i || state.missed.(i) > 0 || state.pending.(i) <> []
    | Send _ -> state.closed || has_room state
    | _ -> true

  let next_state cmd state =
    let with_pending i items =
      let pending = Array.copy state.pending in
      pending.(i) <- items;
      { state with pending }
    and told i =
      let missed = Array.copy state.missed in
      missed.(i) <- 0;
      { state with missed }
    in
    let ends i is_ended =
      let ended = Array.copy state.ended in
      ended.(i) <- is_ended;
      { (told i) with pending = (with_pending i []).pending; ended }
    in
    match cmd with
    | (Send v | Try_send v | Poll_send v)
      when (not state.closed) && has_room state ->
        let sent i items = if state.ended.(i) then [] else items @ [ v ] in
        let pending = Array.mapi sent state.pending in
        let is_over items =
          match Limit.limit with
          | Some (Drop_oldest n) -> List.length items > n
          | Some (Wait _) | None -> false
        in
        let dropped items = if is_over items then List.tl items else items in
        let missed i n = if is_over pending.(i) then n + 1 else n in
        {
          state with
          pending = Array.map dropped pending;
          missed = Array.mapi missed state.missed;
        }
    | (Try_receive i | Poll i | Receive i | Drain i) when state.missed.(i) > 0
      ->
        told i
    | Try_receive i | Poll i | Receive i -> (
        match state.pending.(i) with
        | [] -> state
        | _ :: items -> with_pending i items)
    | Drain i -> with_pending i []
    | Subscribe -> ends 0 false
    | Unsubscribe i ->
        let at_end =
          state.closed && state.missed.(i) = 0 && state.pending.(i) = []
        in
        if at_end then state else ends i true
    | Close -> { state with closed = true }
    | Send _ | Try_send _ | Poll_send _ | Is_closed | Waiters _ | Senders ->
        state

  let run cmd { t; subscriptions } =
    let received f i =
      Res (result (option int) exn, protect f subscriptions.(i))
    in
    match cmd with
    | Send v -> Res (result unit exn, protect (Broadcast.send t) v)
    | Try_send v -> Res (result bool exn, protect (Broadcast.try_send t) v)
    | Poll_send v ->
        let poll v = Event.poll (Broadcast.send_evt t v) = Some () in
        Res (result bool exn, protect poll v)
    | Try_receive i -> received Broadcast.try_receive i
    | Poll i -> received (fun s -> Event.poll (Broadcast.receive_evt s)) i
    | Receive i -> received (fun s -> Some (Broadcast.receive s)) i
    | Drain i ->
        Res (result (list int) exn, protect Broadcast.drain subscriptions.(i))
    | Subscribe ->
        (match Limit.limit with
        | Some (Wait _) -> Broadcast.unsubscribe subscriptions.(0)
        | Some (Drop_oldest _) | None -> ());
        Res (unit, (subscriptions.(0) <- Broadcast.subscribe t))
    | Unsubscribe i -> Res (unit, Broadcast.unsubscribe subscriptions.(i))
    | Close -> Res (unit, Broadcast.close t)
    | Is_closed -> Res (bool, Broadcast.is_closed t)
    | Waiters i -> Res (int, Broadcast.waiters subscriptions.(i))
    | Senders -> Res (int, Broadcast.senders t)

  let postcond cmd state res =
    match (cmd, res) with
    | Send _, Res ((Result (Unit, Exn), _), r) ->
        r = if state.closed then Error Broadcast.Closed else Ok ()
    | (Try_send _ | Poll_send _), Res ((Result (Bool, Exn), _), r) ->
        r = if state.closed then Error Broadcast.Closed else Ok (has_room state)
    | ( (Try_receive i | Poll i | Receive i),
        Res ((Result (Option Int, Exn), _), r) )
      when state.missed.(i) > 0 ->
        r = Error (Broadcast.Lagged state.missed.(i))
    | Drain i, Res ((Result (List Int, Exn), _), r) ->
        r
        =
        if state.missed.(i) > 0 then Error (Broadcast.Lagged state.missed.(i))
        else Ok state.pending.(i)
    | ( (Try_receive i | Poll i | Receive i),
        Res ((Result (Option Int, Exn), _), r) ) -> (
        match state.pending.(i) with
        | v :: _ -> r = Ok (Some v)
        | [] ->
            r = if is_at_end state i then Error Broadcast.Closed else Ok None)
    | Is_closed, Res ((Bool, _), closed) -> closed = state.closed
    | (Subscribe | Unsubscribe _ | Close), Res ((Unit, _), ()) -> true
    | (Waiters _ | Senders), Res ((Int, _), n) -> n = 0
    | _ -> false
end

module Unlimited = Broadcasts (struct
  let limit = None
end)

module Limited = Broadcasts (struct
  let limit = Some (Broadcast.Drop_oldest 3)
end)

module Held = Broadcasts (struct
  let limit = Some (Broadcast.Wait 2)
end)

(* While a value is being dropped, another domain may still receive it. And [try_send] may not
   see yet that a value was received there. So there is no test with a limit on two domains. *)
module Broadcasts_on_two = struct
  include Unlimited

  let arb_cmd _ = make ~print:show_cmd (weighted never_wait)
end

(* No task waits, so no two tasks meet. *)
module Channels = struct
  type sut = int Channel.t
  type state = bool

  type cmd =
    | Try_send
    | Try_receive
    | Poll_send
    | Poll_receive
    | Poll_both
    | Close
    | Is_closed
    | Waiters

  let show_cmd = function
    | Try_send -> "try_send"
    | Try_receive -> "try_receive"
    | Poll_send -> "poll send_evt"
    | Poll_receive -> "poll receive_evt"
    | Poll_both -> "poll (choose [send_evt; receive_evt])"
    | Close -> "close"
    | Is_closed -> "is_closed"
    | Waiters -> "waiters"

  let init_state = false
  let init_sut () = Channel.create ()
  let cleanup _ = ()

  let arb_cmd _ =
    let seldom = [ (1, Gen.return Close) ]
    and often =
      List.map
        (fun cmd -> (3, Gen.return cmd))
        [
          Try_send;
          Try_receive;
          Poll_send;
          Poll_receive;
          Poll_both;
          Is_closed;
          Waiters;
        ]
    in
    make ~print:show_cmd (Unlimited.weighted (seldom @ often))

  let precond _ _ = true
  let next_state cmd closed = closed || cmd = Close

  let run cmd t =
    let met f = Res (result bool exn, protect f t) in
    let send = Event.wrap (Channel.send_evt t 1) (fun () -> 0) in
    let receive = Channel.receive_evt t in
    match cmd with
    | Try_send -> met (fun t -> Channel.try_send t 1)
    | Try_receive -> met (fun t -> Channel.try_receive t <> None)
    | Poll_send -> met (fun _ -> Event.poll send <> None)
    | Poll_receive -> met (fun _ -> Event.poll receive <> None)
    | Poll_both ->
        met (fun _ -> Event.poll (Event.choose [ send; receive ]) <> None)
    | Close -> Res (unit, Channel.close t)
    | Is_closed -> Res (bool, Channel.is_closed t)
    | Waiters -> Res (int, Channel.waiters t)

  let postcond cmd closed res =
    match (cmd, res) with
    | ( (Try_send | Try_receive | Poll_send | Poll_receive | Poll_both),
        Res ((Result (Bool, Exn), _), r) ) ->
        r = if closed then Error Channel.Closed else Ok false
    | Is_closed, Res ((Bool, _), r) -> r = closed
    | Close, Res ((Unit, _), ()) -> true
    | Waiters, Res ((Int, _), n) -> n = 0
    | _ -> false
end

module One = STM_sequential.Make (Unlimited)
module One_limited = STM_sequential.Make (Limited)
module One_held = STM_sequential.Make (Held)
module Two = STM_domain.Make (Broadcasts_on_two)
module One_channel = STM_sequential.Make (Channels)
module Two_channel = STM_domain.Make (Channels)

let () =
  Drawn.run
    [
      One.agree_test ~count:(Race.often 300) ~name:"Broadcast, on one domain";
      One_limited.agree_test ~count:(Race.often 300)
        ~name:"Broadcast with a limit, on one domain";
      One_held.agree_test ~count:(Race.often 300)
        ~name:"Broadcast that holds senders back, on one domain";
      Two.agree_test_par ~count:(Race.often 10)
        ~name:"Broadcast, on two domains";
      One_channel.agree_test ~count:(Race.often 100)
        ~name:"Channel, on one domain";
      Two_channel.agree_test_par ~count:(Race.often 10)
        ~name:"Channel, on two domains";
    ]
