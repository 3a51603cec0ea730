(* Operations on queues. *)

open Concord
open Operation_kit

module Make (S : Style) = struct
  let zero = S.map (fun () -> 0)

  let receive _ =
    let t = Channel.create () in
    let sent = ref 0 and received = ref 0 in
    let count v =
      incr received;
      v
    in
    let release v =
      if Channel.try_send t v then begin
        incr sent;
        0
      end
      else v
    in
    {
      wait = (fun _ -> S.map count (S.Channel.receive t));
      event = Some (fun _ -> Event.wrap (Channel.receive_evt t) count);
      wake = numbered release;
      release;
      (* The values that were sent but not received. *)
      left = (fun () -> List.init (!sent - !received) Fun.id);
      waiters = (fun () -> Channel.waiters t);
      ends = Some (Channel.Closed, fun () -> Channel.close t);
      fails = None;
    }

  let send _ =
    let t = Channel.create () in
    full
      ~wait:(fun v -> zero (S.Channel.send t v))
      ~event:(Channel.send_evt t)
      ~try_take:(fun () -> unless_closed Channel.try_receive t)
      ~waiters:(fun () -> Channel.waiters t)
      ~ends:(Some (Channel.Closed, fun () -> Channel.close t))

  let channel =
    [
      operation "Channel.receive" Takes ~remembers:false receive;
      operation "Channel.send" Gives ~remembers:false send;
    ]

  let empty ~wait ~event ~add ~try_take ~waiters ~close =
    let release v =
      add v;
      0
    in
    {
      wait;
      event = Some event;
      wake = numbered release;
      release;
      left = (fun () -> drain try_take);
      waiters;
      ends = Some (Stream.Closed, close);
      fails = None;
    }

  (* This operation's end is a value. Here it becomes the exception, as for the others. *)
  let unless_at_end = function Some v -> v | None -> raise Stream.Closed

  let take_item wait event _ =
    let t = Stream.create 1 in
    empty
      ~wait:(fun _ -> wait t)
      ~event:(fun _ -> event t)
      ~add:(fun v -> expect "there is room" (Stream.try_add t v))
      ~try_take:(fun () -> unless_closed Stream.try_take t)
      ~waiters:(fun () -> Stream.waiters t)
      ~close:(fun () -> Stream.close t)

  let add_item _ =
    let t = Stream.create 1 in
    Stream.add t filler;
    let place =
      full
        ~wait:(fun v -> zero (S.Stream.add t v))
        ~event:(Stream.add_evt t)
        ~try_take:(fun () -> unless_closed Stream.try_take t)
        ~waiters:(fun () -> Stream.waiters t)
        ~ends:(Some (Stream.Closed, fun () -> Stream.close t))
    in
    let left () =
      let left = place.left () in
      if Stream.is_closed t then
        Check.raises "it is at its end" Stream.Closed (fun () ->
            Stream.try_take t);
      left
    in
    { place with left }

  let stream =
    [
      operation "Stream.take" Takes (take_item S.Stream.take Stream.take_evt);
      operation "Stream.next" Takes
        (take_item
           (fun t -> S.map unless_at_end (S.Stream.next t))
           (fun t -> Event.wrap (Stream.next_evt t) unless_at_end));
      operation "Stream.add" Gives add_item;
    ]

  let take_work wait event _ =
    let t = Work_queue.create 1 in
    empty
      ~wait:(fun _ -> wait t)
      ~event:(fun _ -> event t)
      ~add:(fun v -> expect "there is room" (Work_queue.try_add t v <> None))
      ~try_take:(fun () -> unless_closed Work_queue.try_take t)
      ~waiters:(fun () -> Work_queue.waiters t)
      ~close:(fun () -> Work_queue.close t)

  let add_work _ =
    let t = Work_queue.create 1 in
    ignore (Work_queue.add t filler : int Work_queue.ticket);
    full
      ~wait:(fun v -> S.map (fun _ -> 0) (S.Work_queue.add t v))
      ~event:(fun v -> Event.wrap (Work_queue.add_evt t v) ignore)
      ~try_take:(fun () -> unless_closed Work_queue.try_take t)
      ~waiters:(fun () -> Work_queue.waiters t)
      ~ends:(Some (Work_queue.Closed, fun () -> Work_queue.close t))

  let work_queue =
    [
      operation "Work_queue.take" Takes
        (take_work S.Work_queue.take Work_queue.take_evt);
      operation "Work_queue.next" Takes
        (take_work
           (fun t -> S.map unless_at_end (S.Work_queue.next t))
           (fun t -> Event.wrap (Work_queue.next_evt t) unless_at_end));
      operation "Work_queue.add" Gives add_work;
    ]

  let take_mail _ =
    let t = Mailbox.create () in
    empty
      ~wait:(fun _ -> S.Mailbox.take t)
      ~event:(fun _ -> Mailbox.take_evt t)
      ~add:(Mailbox.add t)
      ~try_take:(fun () -> unless_closed Mailbox.try_take t)
      ~waiters:(fun () -> Mailbox.waiters t)
      ~close:(fun () -> Mailbox.close t)

  let mailbox = [ operation "Mailbox.take" Takes take_mail ]

  let receive_news ?limit _ =
    let t = Broadcast.create ?limit () in
    (* If the limit is 10, these stay. *)
    Broadcast.send_seq t (Seq.init 10 Fun.id);
    let s = Broadcast.subscribe t in
    (* [t] learns of the subscription from its first waiter. *)
    let receive () = ignore (Broadcast.receive s : int) in
    Hand.unwind (registered (fun () -> Hand.start receive));
    empty
      ~wait:(fun _ -> S.Broadcast.receive s)
      ~event:(fun _ -> Broadcast.receive_evt s)
      ~add:(Broadcast.send t)
      ~try_take:(fun () -> unless_closed Broadcast.try_receive s)
      ~waiters:(fun () -> Broadcast.waiters s)
      ~close:(fun () -> Broadcast.close t)

  let send_news _ =
    let t = Broadcast.create ~limit:(Wait 1) () in
    let s = Broadcast.subscribe t in
    Broadcast.send t filler;
    full
      ~wait:(fun v -> zero (S.Broadcast.send t v))
      ~event:(Broadcast.send_evt t)
      ~try_take:(fun () -> unless_closed Broadcast.try_receive s)
      ~waiters:(fun () -> Broadcast.senders t)
      ~ends:(Some (Broadcast.Closed, fun () -> Broadcast.close t))

  let broadcast =
    let limit = Broadcast.Drop_oldest 10 in
    [
      operation "Broadcast.receive" Takes receive_news;
      operation "Broadcast.receive, with a limit" Takes (receive_news ~limit);
      operation "Broadcast.send" Gives send_news;
    ]
end
