open Case

(* Mailboxes are unbounded. If the producer ran far ahead, the benchmark would only measure how
   memory grows. So the producer is at most [credit] bursts ahead of the consumer, which
   answers each burst through a mailbox of the same kind. *)

let burst = 100
let credit = 10

let in_bursts ~send ~wait_for_answer n =
  let bursts = n / burst in
  for b = 0 to bursts - 1 do
    if b >= credit then wait_for_answer ();
    send (b * burst) burst
  done;
  send (bursts * burst) (n - (bursts * burst));
  for _ = 1 to min credit bursts do
    wait_for_answer ()
  done

let of_bursts ~receive ~answer n =
  let sum = ref 0 in
  for _ = 1 to n / burst do
    sum := !sum + receive burst;
    answer ()
  done;
  !sum + receive (n mod burst)

let mailbox (shape : Host.shape) ~send ~receive ~wait_for_answer ~answer n =
  shape
    ~produce:(in_bursts ~send ~wait_for_answer)
    ~consume:(of_bursts ~receive ~answer)
    n

let mailbox_concord shape n =
  let box = Concord.Mailbox.create () and answers = Concord.Mailbox.create () in
  let send after n =
    for i = after + 1 to after + n do
      Concord.Mailbox.add box i
    done
  in
  let receive n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + Concord.Mailbox.take box
    done;
    !sum
  in
  mailbox shape ~send ~receive
    ~wait_for_answer:(fun () -> Concord.Mailbox.take answers)
    ~answer:(fun () -> Concord.Mailbox.add answers ())
    n

let mailbox_eio shape n =
  let stream = Eio.Stream.create max_int in
  let answers = Eio.Stream.create max_int in
  let send after n =
    for i = after + 1 to after + n do
      Eio.Stream.add stream i
    done
  in
  mailbox shape ~send ~receive:(Peers.take_eio stream)
    ~wait_for_answer:(fun () -> Eio.Stream.take answers)
    ~answer:(fun () -> Eio.Stream.add answers ())
    n

let mailbox_domainslib n =
  let channel = Domainslib.Chan.make_unbounded () in
  let answers = Domainslib.Chan.make_unbounded () in
  let send after n =
    for i = after + 1 to after + n do
      Domainslib.Chan.send channel i
    done
  in
  mailbox
    (Host.parallel Host.domain)
    ~send
    ~receive:(Peers.receive_domainslib channel)
    ~wait_for_answer:(fun () -> Domainslib.Chan.recv answers)
    ~answer:(fun () -> Domainslib.Chan.send answers ())
    n

let mailbox_kcas shape n =
  let queue = Kcas_data.Queue.create () in
  let answers = Kcas_data.Queue.create () in
  let send after n =
    for i = after + 1 to after + n do
      Kcas_data.Queue.add i queue
    done
  in
  let receive n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + Kcas_data.Queue.take_blocking queue
    done;
    !sum
  in
  mailbox shape ~send ~receive
    ~wait_for_answer:(fun () -> Kcas_data.Queue.take_blocking answers)
    ~answer:(fun () -> Kcas_data.Queue.add () answers)
    n

let mailbox_lwt n =
  let stream, push = Lwt_stream.create () in
  let answers, push_answer = Lwt_stream.create () in
  let sent = ref 0 and received = ref 0 in
  (* The consumer answers every burst, but the producer waits only for the answers that it
     needs. *)
  let push i =
    push (Some i);
    incr sent;
    if !sent mod burst = 0 && !sent > credit * burst then
      Lwt_stream.next answers
    else Lwt.return_unit
  in
  let next () =
    incr received;
    if !received mod burst = 0 then push_answer (Some ());
    Lwt_stream.next stream
  in
  Peers.serial_lwt ~push ~next n

let mailbox_serial =
  let case = "mailbox-serial" in
  {
    title =
      Printf.sprintf
        "one message through an unbounded mailbox, two tasks on 1 domain, one \
         at most %d messages ahead (picos: a Stream with one reader)"
        (burst * credit);
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (mailbox_eio (Host.serial Host.eio)));
    others =
      Ours.rows ~case Ours.two_tasks (fun host ->
          mailbox_concord (Host.serial host))
      @ [
          row ~case ~impl:"lwt" ~host:"lwt" (Time mailbox_lwt);
          row ~case ~impl:"kcas" ~host:"eio"
            (Time (mailbox_kcas (Host.serial Host.eio)));
          picos case elsewhere;
          tokio case;
        ];
  }

let mailbox_parallel =
  let case = "mailbox-parallel" in
  {
    title = "the same, one task on each of 2 domains";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (mailbox_eio (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          mailbox_concord (Host.parallel host))
      @ [
          row ~case ~impl:"domainslib" ~host:"domain" (Time mailbox_domainslib);
          row ~case ~impl:"kcas" ~host:"domain"
            (Time (mailbox_kcas (Host.parallel Host.domain)));
          picos case elsewhere;
          tokio case;
        ];
  }

(* Broadcasts. After each burst the sender yields, and the subscribers receive until
   they wait. *)

let subscribers = 4

(* [subscribe ()] returns a function that receives a message. *)
let broadcast (host : Host.t) ~yield ~send ~subscribe n =
  let left = ref subscribers and ns = ref 0. in
  host.run (fun fork ->
      let start = Meter.now () in
      for _ = 1 to subscribers do
        let receive = subscribe () in
        fork (fun () ->
            let sum = ref 0 in
            for _ = 1 to n do
              sum := !sum + receive ()
            done;
            Host.check "sum of the messages" (n * (n + 1) / 2) !sum;
            decr left;
            if !left = 0 then ns := Meter.ns_since start)
      done;
      for i = 1 to n do
        send i;
        if i mod burst = 0 then yield ()
      done);
  Host.check "subscribers that did not end" 0 !left;
  !ns

let broadcast_concord ?limit host ~yield n =
  let t = Concord.Broadcast.create ?limit () in
  let subscribe () =
    let subscription = Concord.Broadcast.subscribe t in
    fun () -> Concord.Broadcast.receive subscription
  in
  broadcast host ~yield ~send:(fun i -> Concord.Broadcast.send t i) ~subscribe n

let broadcast_eio n =
  let streams = ref [] in
  let subscribe () =
    let stream = Eio.Stream.create max_int in
    streams := stream :: !streams;
    fun () -> Eio.Stream.take stream
  in
  let send i = List.iter (fun stream -> Eio.Stream.add stream i) !streams in
  broadcast Host.eio ~yield:Eio.Fiber.yield ~send ~subscribe n

let broadcast_serial =
  let case = "broadcast-serial" in
  {
    title =
      Printf.sprintf
        "one message to each of %d subscribers, 1 domain (Eio: a stream for \
         each; limit: of a broadcast that keeps 1,000; wait: of one whose \
         senders wait at 1,000)"
        subscribers;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time broadcast_eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo"
          (Time (broadcast_concord Host.fifo ~yield:Concord_fifo.yield));
        row ~case ~impl:"limit" ~host:"fifo"
          (Time
             (broadcast_concord ~limit:(Drop_oldest 1_000) Host.fifo
                ~yield:Concord_fifo.yield));
        row ~case ~impl:"wait" ~host:"fifo"
          (Time
             (broadcast_concord ~limit:(Wait 1_000) Host.fifo
                ~yield:Concord_fifo.yield));
        row ~case ~impl:"concord" ~host:"eio"
          (Time (broadcast_concord Host.eio ~yield:Eio.Fiber.yield));
        picos case elsewhere;
      ];
  }

let comparisons =
  beside [ mailbox_serial; broadcast_serial ] @ [ mailbox_parallel ]
