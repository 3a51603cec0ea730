(* Scenes of structures that hold several values. *)

open Concord
open Kit

(* --- Channel ---------------------------------------------------------------------------- *)

let channel ?waiting ?wake perform =
  let woken = ref [] in
  let left t =
    let round =
      if Channel.is_closed t then [ closed ]
      else
        let finish = come (fun () -> Channel.receive t) in
        let sent = flag (Channel.try_send t 50) in
        sent @ [ finish () ]
    in
    !woken @ round
  in
  let wake = Option.map (fun wake t -> woken := wake t) wake in
  around (Channel.create ()) ?waiting ?wake ~remembers:false
    ~waiters:Channel.waiters ~left perform

let receives t = come (fun () -> Channel.receive t)

let sends v t =
  come (fun () ->
      Channel.send t v;
      0)

let refuses_to_receive = refuses_for Channel.receive_evt

let refuses_to_send v =
  refuses_for (fun t -> Event.wrap (Channel.send_evt t v) (fun () -> 0))

let channels =
  let sending =
    [
      ("Channel.send", silent (fun t -> Channel.send t 5));
      ("Channel.try_send", fun t -> flag (Channel.try_send t 5));
      ("Channel.send_seq", silent (fun t -> Channel.send_seq t (Seq.return 5)));
    ]
    @ as_event "Channel.send" (unit (fun t -> Channel.send_evt t 5))
  and receiving =
    [
      ("Channel.receive", fun t -> [ Channel.receive t ]);
      ("Channel.next", fun t -> none_or (Channel.next t));
    ]
    @ as_event "Channel.receive" (number Channel.receive_evt)
    @ as_event "Channel.next" (fun t -> Event.wrap (Channel.next_evt t) none_or)
  and receiving_now =
    [
      ("Channel.try_receive", fun t -> none_or (Channel.try_receive t));
      ("Channel.to_seq", fun t -> List.of_seq (Seq.take 1 (Channel.to_seq t)));
    ]
  in
  let drains = [ ("Channel.drain", fun t -> Channel.drain t) ] in
  let closes = [ ("Channel.close", silent Channel.close) ] in
  let senders = [ refuses_to_send 2; sends 3; sends 4 ] in
  in_state "no task waits" channel
    (closes @ drains
    @ [
        ("Channel.try_send", fun t -> flag (Channel.try_send t 5));
        ("Channel.try_receive", fun t -> none_or (Channel.try_receive t));
      ])
  @ in_state "it waits"
      (channel ~wake:(fun t -> flag (Channel.try_send t 5)))
      (unless_polled receiving)
  @ in_state "others wait to send" (channel ~waiting:senders)
      (receiving @ receiving_now @ closes)
  @ in_state "at its end"
      (fun perform ->
        channel (fun t ->
            Channel.close t;
            perform t))
      [
        ("Channel.iter", silent (Channel.iter ignore));
        ("Channel.fold", fun t -> [ Channel.fold ( + ) 0 t ]);
      ]
  @ in_state "others wait to receive"
      (channel ~waiting:[ refuses_to_receive; receives; receives ])
      (sending @ closes)

(* --- Queues ------------------------------------------------------------------------------- *)

module Queues (Q : sig
  type 'a t

  val name : string
  val create : unit -> int t
  val try_add : int t -> int -> bool
  val try_take : 'a t -> 'a option
  val take : 'a t -> 'a
  val take_evt : 'a t -> 'a Event.t
  val drain : 'a t -> 'a list
  val add_seq : 'a t -> 'a Seq.t -> unit
  val close : 'a t -> unit
  val is_closed : 'a t -> bool
  val waiters : 'a t -> int

  include Concord__Reader.S with type 'a t := 'a t
end) =
struct
  let operation what = Q.name ^ "." ^ what

  let queue ?(items = []) ?waiting ?(is_closed = false) ?parts perform =
    let t = Q.create () in
    List.iter (fun v -> ignore (Q.try_add t v : bool)) items;
    if is_closed then Q.close t;
    let left t =
      let left = Q.drain t in
      let round =
        if Q.is_closed t then [ closed ]
        else
          let added = flag (Q.try_add t 50) in
          added @ none_or (Q.try_take t)
      in
      (100 :: left) @ (100 :: round)
    in
    around t ?waiting ?parts ~waiters:Q.waiters ~left perform

  let takes t = come (fun () -> Q.take t)
  let refuses = refuses_for Q.take_evt
  let close = silent Q.close

  let takings =
    [
      (operation "take", fun t -> [ Q.take t ]);
      (operation "try_take", fun t -> none_or (Q.try_take t));
      (operation "next", fun t -> none_or (Q.next t));
      (operation "drain", fun t -> Q.drain t);
      (operation "close", close);
      (operation "to_seq", fun t -> List.of_seq (Seq.take 1 (Q.to_seq t)));
    ]
    @ as_event (operation "take") (number Q.take_evt)
    @ as_event (operation "next") (fun t -> Event.wrap (Q.next_evt t) none_or)

  let readings =
    [
      (operation "iter", silent (Q.iter ignore));
      (operation "fold", fun t -> [ Q.fold ( + ) 0 t ]);
      (operation "to_seq, to the end", fun t -> List.of_seq (Q.to_seq t));
    ]

  let take_one t = ignore (Q.try_take t : int option)
  let add v t = ignore (Q.try_add t v : bool)

  let cases ~adding ~adders =
    in_state "empty" queue
      (adding
      @ [
          (operation "try_take", fun t -> none_or (Q.try_take t));
          (operation "drain", fun t -> Q.drain t);
          (operation "close", close);
        ])
    @ in_state "two items" (queue ~items:[ 1; 2 ]) takings
    @ in_state "two items, others wait to add"
        (queue ~items:[ 1; 2 ] ~waiting:adders)
        (if adders = [] then [] else takings)
    @ in_state "two items and an end"
        (queue ~items:[ 1; 2 ] ~is_closed:true ~parts:[ take_one; take_one ])
        readings
    @ in_state "others wait to take"
        (queue ~waiting:[ refuses; takes; takes; takes ])
        ((operation "close", close) :: adding)
    @ in_state "two in a row"
        (queue ~parts:[ add 5; add 6 ])
        [
          ( operation "add_seq",
            silent (fun t -> Q.add_seq t (List.to_seq [ 5; 6 ])) );
        ]
end

module Streams = Queues (struct
  include Stream

  let name = "Stream"
  let create () = Stream.create 2
end)

let adds v t =
  come (fun () ->
      Stream.add t v;
      0)

let refuses_to_add v =
  refuses_for (fun t -> Event.wrap (Stream.add_evt t v) (fun () -> 0))

let streams =
  Streams.cases
    ~adders:[ refuses_to_add 7; adds 8; adds 9 ]
    ~adding:
      ([
         ("Stream.add", silent (fun t -> Stream.add t 5));
         ("Stream.try_add", fun t -> flag (Stream.try_add t 5));
         ( "Stream.take_nonblocking",
           fun t -> none_or (Stream.take_nonblocking t) );
       ]
      @ as_event "Stream.add" (unit (fun t -> Stream.add_evt t 5)))
  @ in_state "two items, others wait to add"
      (Streams.queue ~items:[ 1; 2 ]
         ~waiting:[ refuses_to_add 7; adds 8; adds 9 ])
      [
        ("Stream.take_nonblocking", fun t -> none_or (Stream.take_nonblocking t));
        ("Stream.try_add", fun t -> flag (Stream.try_add t 5));
      ]

module Mailboxes = Queues (struct
  include Mailbox

  let name = "Mailbox"
  let create () = Mailbox.create ()

  let try_add t v =
    Mailbox.add t v;
    true
end)

let mailboxes =
  Mailboxes.cases ~adders:[]
    ~adding:[ ("Mailbox.add", silent (fun t -> Mailbox.add t 5)) ]

(* --- Broadcast ------------------------------------------------------------------------------ *)

(* Returns the result of [f ()], or the number of missed values. *)
let or_missed f =
  match f () with
  | result -> result
  | exception Broadcast.Lagged n -> [ 1000 + n ]

let broadcast ?limit ?(sent = []) ?(is_closed = false) ?(waiting = []) ?parts
    perform =
  let t = Broadcast.create ?limit () in
  let s = Broadcast.subscribe t and s' = Broadcast.subscribe t in
  List.iter (Broadcast.send t) sent;
  if is_closed then Broadcast.close t;
  let behind _ =
    come (fun () ->
        match Broadcast.receive s' with
        | v -> v
        | exception Broadcast.Lagged n -> 1000 + n)
  in
  let left _ =
    let drain s =
      let missed = or_missed (fun () -> Broadcast.drain s) in
      missed @ Broadcast.drain s
    in
    let left = drain s and behind = drain s' in
    let round =
      if Broadcast.is_closed t then [ closed ]
      else begin
        Broadcast.send t 50;
        none_or (Broadcast.try_receive s) @ none_or (Broadcast.try_receive s')
      end
    in
    (100 :: left) @ (100 :: behind) @ (100 :: round)
  in
  around (t, s) ~waiting:(waiting @ [ behind ]) ?parts ~left perform
    ~waiters:(fun _ -> Broadcast.waiters s + Broadcast.waiters s')

let broadcasts =
  let news =
    [
      ("Broadcast.send", silent (fun (t, _) -> Broadcast.send t 5));
      ("Broadcast.close", silent (fun (t, _) -> Broadcast.close t));
    ]
  and two_news =
    [
      ( "Broadcast.send_seq",
        silent (fun (t, _) -> Broadcast.send_seq t (List.to_seq [ 5; 6 ])) );
    ]
  and receiving =
    [
      ("Broadcast.receive", fun (_, s) -> [ Broadcast.receive s ]);
      ("Broadcast.try_receive", fun (_, s) -> none_or (Broadcast.try_receive s));
      ("Broadcast.next", fun (_, s) -> none_or (Broadcast.next s));
      ("Broadcast.drain", fun (_, s) -> Broadcast.drain s);
      ( "Broadcast.to_seq",
        fun (_, s) -> List.of_seq (Seq.take 1 (Broadcast.to_seq s)) );
    ]
    @ as_event "Broadcast.receive"
        (number (fun (_, s) -> Broadcast.receive_evt s))
    @ as_event "Broadcast.next" (fun (_, s) ->
        Event.wrap (Broadcast.next_evt s) none_or)
  and to_the_end =
    [
      ("Broadcast.iter", silent (fun (_, s) -> Broadcast.iter ignore s));
      ("Broadcast.fold", fun (_, s) -> [ Broadcast.fold ( + ) 0 s ]);
      ( "Broadcast.to_seq, to the end",
        fun (_, s) -> List.of_seq (Broadcast.to_seq s) );
    ]
  in
  let receives (_, s) = come (fun () -> Broadcast.receive s) in
  let refuses = refuses_for (fun (_, s) -> Broadcast.receive_evt s) in
  let send v (t, _) = Broadcast.send t v in
  let take (_, s) = ignore (Broadcast.try_receive s : int option) in
  let limit = Broadcast.Drop_oldest 2 in
  let or_missed (name, perform) =
    (name, fun it -> or_missed (fun () -> perform it))
  in
  in_state "no news" broadcast
    (news
    @ [
        ( "Broadcast.subscribe",
          fun (t, _) ->
            ignore (Broadcast.subscribe t : int Broadcast.subscription);
            [] );
        ( "Broadcast.try_receive",
          fun (_, s) -> none_or (Broadcast.try_receive s) );
        ("Broadcast.drain", fun (_, s) -> Broadcast.drain s);
      ])
  @ in_state "two in a row" (broadcast ~parts:[ send 5; send 6 ]) two_news
  @ in_state "two values" (broadcast ~sent:[ 1; 2 ]) (receiving @ news)
  @ in_state "two values and an end"
      (broadcast ~sent:[ 1; 2 ] ~is_closed:true ~parts:[ take; take ])
      to_the_end
  @ in_state "others wait"
      (broadcast ~waiting:[ refuses; receives; receives ])
      news
  @ in_state "others wait, two in a row"
      (broadcast
         ~waiting:[ refuses; receives; receives ]
         ~parts:[ send 5; send 6 ])
      two_news
  @ in_state "at the limit" (broadcast ~limit ~sent:[ 1; 2 ]) news
  @ in_state "at the limit, two in a row"
      (broadcast ~limit ~sent:[ 1; 2 ] ~parts:[ send 5; send 6 ])
      two_news
  @ in_state "others wait, at the limit"
      (broadcast ~limit:(Drop_oldest 1)
         ~waiting:[ refuses; receives; receives ]
         ~parts:[ send 5; send 6 ])
      two_news
  @ in_state "some are missed"
      (broadcast ~limit ~sent:[ 1; 2; 3; 4 ])
      (List.map or_missed receiving @ news)

(* A broadcast that makes senders wait. [slow] has received none of the sent values. *)
let held ?(sent = []) ?(waiting = []) ?parts perform =
  let t = Broadcast.create ~limit:(Wait 2) () in
  let s = Broadcast.subscribe t and slow = Broadcast.subscribe t in
  List.iter (Broadcast.send t) sent;
  let left _ =
    let left = Broadcast.drain s and behind = Broadcast.drain slow in
    Broadcast.unsubscribe s;
    (* Checks that all permits were given back. *)
    let first = flag (Broadcast.try_send t 50) in
    let second = flag (Broadcast.try_send t 51) in
    let third = flag (Broadcast.try_send t 52) in
    let received = Broadcast.drain slow in
    Broadcast.unsubscribe slow;
    let nobody = List.init 3 (fun v -> Broadcast.try_send t v) in
    (100 :: left) @ (100 :: behind) @ first @ second @ third @ received
    @ List.concat_map flag nobody
  in
  around (t, s) ~waiting ?parts ~left perform ~waiters:(fun _ ->
      Broadcast.senders t + Broadcast.waiters s + Broadcast.waiters slow)

let held_back =
  let sends =
    [
      ("Broadcast.send", silent (fun (t, _) -> Broadcast.send t 5));
      ("Broadcast.try_send", fun (t, _) -> flag (Broadcast.try_send t 5));
    ]
  and receives =
    [
      ("Broadcast.receive", fun (_, s) -> [ Broadcast.receive s ]);
      ("Broadcast.try_receive", fun (_, s) -> none_or (Broadcast.try_receive s));
      ("Broadcast.drain", fun (_, s) -> Broadcast.drain s);
    ]
  and ends =
    [
      ("Broadcast.unsubscribe", silent (fun (_, s) -> Broadcast.unsubscribe s));
    ]
  and brackets =
    [
      ( "Broadcast.with_subscription",
        fun (t, _) -> Broadcast.with_subscription t (fun s -> Broadcast.drain s)
      );
    ]
  in
  let waits (_, s) = come (fun () -> Broadcast.receive s) in
  let sender v (t, _) =
    come (fun () ->
        Broadcast.send t v;
        1)
  in
  in_state "there is room" (held ~sent:[ 1 ])
    (sends @ receives @ ends @ brackets)
  @ in_state "there is none"
      (held ~sent:[ 1; 2 ])
      (receives @ ends
      @ [ ("Broadcast.try_send", fun (t, _) -> flag (Broadcast.try_send t 5)) ]
      )
  @ in_state "there is room, others wait"
      (held ~waiting:[ waits; waits ])
      (sends @ ends)
  @ in_state "there is none, others wait"
      (held ~sent:[ 1; 2 ] ~waiting:[ sender 6; sender 7 ])
      (receives @ ends)

let cases = List.concat [ channels; streams; mailboxes; broadcasts; held_back ]
