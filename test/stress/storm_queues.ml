(* Producers and consumers on two domains use everything that passes values on, and are
   cancelled all the time. Each value arrives once, and the values of one producer arrive in
   order. No task waits forever, and nothing remains. *)

open Concord
open Concord_test_support.Race
open Crew

type message = { producer : int; number : int }

(* Several ways to do the same, one of which is chosen at random. *)
type queue = {
  add : (message -> unit) array;
  take : (unit -> message list) array;
  close : unit -> unit;
  at_rest : unit -> bool;
}

exception Closed = Channel.Closed

(* --- The queues ------------------------------------------------------------- *)

let one v = [ v ]

(* A choice that waits twice in one queue, and once where nothing happens. *)
let twice event =
  Event.select [ event; Event.receive (Event.new_channel ()); event ]

let channel () =
  let t = Channel.create () in
  {
    add =
      [|
        Channel.send t;
        (fun v -> Event.sync (Channel.send_evt t v));
        (fun v -> twice (Event.wrap (Channel.send_evt t v) one) |> ignore);
        (fun v -> if not (Channel.try_send t v) then Channel.send t v);
      |];
    take =
      [|
        (fun () -> [ Channel.receive t ]);
        (fun () -> [ Event.sync (Channel.receive_evt t) ]);
        (fun () -> [ twice (Channel.receive_evt t) ]);
        (fun () -> Option.to_list (Channel.try_receive t));
      |];
    close = (fun () -> Channel.close t);
    at_rest = (fun () -> Channel.waiters t = 0);
  }

let stream capacity () =
  let t = Stream.create capacity in
  let take () =
    if Stream.length t > capacity then fail "the stream is too full";
    Stream.take t
  in
  {
    add =
      [|
        Stream.add t;
        (fun v -> Event.sync (Stream.add_evt t v));
        (fun v -> ignore (twice (Event.wrap (Stream.add_evt t v) one)));
        (fun v -> if not (Stream.try_add t v) then Stream.add t v);
      |];
    take =
      [|
        (fun () -> [ take () ]);
        (fun () -> [ Event.sync (Stream.take_evt t) ]);
        (fun () -> [ twice (Stream.take_evt t) ]);
        (fun () -> Option.to_list (Stream.try_take t));
        (fun () ->
          match Stream.drain t with [] -> [ Stream.take t ] | all -> all);
      |];
    close = (fun () -> Stream.close t);
    at_rest = (fun () -> Stream.waiters t = 0 && Stream.is_empty t);
  }

let work_queue capacity () =
  let t = Work_queue.create capacity in
  let add v = ignore (Work_queue.add t v : _ Work_queue.ticket) in
  let add_and_withdraw v =
    if Work_queue.withdraw (Work_queue.add t v) then add v
  in
  let take () =
    if Work_queue.length t > capacity then fail "the queue of work is too full";
    Work_queue.take t
  in
  {
    add =
      [|
        add;
        add_and_withdraw;
        (fun v -> ignore (Event.sync (Work_queue.add_evt t v)));
        (fun v -> ignore (twice (Event.wrap (Work_queue.add_evt t v) one)));
        (fun v -> if Option.is_none (Work_queue.try_add t v) then add v);
      |];
    take =
      [|
        (fun () -> [ take () ]);
        (fun () -> [ Event.sync (Work_queue.take_evt t) ]);
        (fun () -> [ twice (Work_queue.take_evt t) ]);
        (fun () -> Option.to_list (Work_queue.try_take t));
        (fun () ->
          match Work_queue.drain t with
          | [] -> [ Work_queue.take t ]
          | all -> all);
      |];
    close = (fun () -> Work_queue.close t);
    at_rest = (fun () -> Work_queue.waiters t = 0 && Work_queue.is_empty t);
  }

let mailbox () =
  let t = Mailbox.create () in
  {
    add = [| Mailbox.add t |];
    take =
      [|
        (fun () -> [ Mailbox.take t ]);
        (fun () -> [ Event.sync (Mailbox.take_evt t) ]);
        (fun () -> [ twice (Mailbox.take_evt t) ]);
        (fun () -> Option.to_list (Mailbox.try_take t));
      |];
    close = (fun () -> Mailbox.close t);
    at_rest = (fun () -> Mailbox.waiters t = 0 && Mailbox.is_empty t);
  }

(* The textbook's bounded buffer. If a signal were lost or went to a cancelled task, it would
   stop. *)
let buffer capacity () =
  let mutex = Mutex.create () and items = Queue.create () in
  let not_full = Condition.create () and not_empty = Condition.create () in
  let closed = ref false in
  let wait condition =
    if Queue.length items land 1 = 0 then Condition.wait condition mutex
    else Event.select [ Condition.wait_evt condition mutex; Event.never ];
    if not (Mutex.is_locked mutex) then fail "wait returned without the mutex"
  in
  let add v =
    Mutex.protect mutex @@ fun () ->
    while Queue.length items = capacity do
      wait not_full
    done;
    Queue.push v items;
    if Queue.length items > capacity then fail "the buffer is too full";
    Condition.signal not_empty
  and take () =
    Mutex.protect mutex @@ fun () ->
    while Queue.is_empty items do
      if !closed then raise Closed;
      wait not_empty
    done;
    let v = Queue.pop items in
    Condition.signal not_full;
    [ v ]
  and close () =
    Mutex.protect mutex (fun () -> closed := true);
    Condition.broadcast not_empty
  in
  let at_rest () =
    Condition.waiters not_full + Condition.waiters not_empty = 0
    && Mutex.waiters mutex = 0
    && (not (Mutex.is_locked mutex))
    && Queue.is_empty items
  in
  { add = [| add |]; take = [| take |]; close; at_rest }

(* --- The storm -------------------------------------------------------------- *)

let all = 8
let layouts = random (-1)

(* Either half of the producers and half of the consumers are on each side, or all producers
   are on one side and all consumers on the other. *)
let pass_on make ~last hosts =
  let apart = Random.State.bool layouts in
  let queue = make () in
  let producing = Atomic.make all in
  let received = Array.init all (fun _ -> Array.make all []) in
  let produce crew producer () =
    for number = 1 to last do
      insist crew (fun () -> (any crew queue.add) { producer; number })
    done;
    if Atomic.fetch_and_add producing (-1) = 1 then queue.close ()
  in
  let rec consume crew mine =
    let take () =
      match (any crew queue.take) () with
      | [] ->
          yield crew;
          Some []
      | messages -> Some messages
      | exception Closed -> None
    in
    match insist crew take with
    | None -> ()
    | Some messages ->
        let record { producer; number } =
          (match mine.(producer) with
          | before :: _ when before >= number ->
              fail "%d after %d, of producer %d" number before producer
          | _ -> ());
          mine.(producer) <- number :: mine.(producer)
        in
        List.iter record messages;
        consume crew mine
  in
  let tasks crew =
    let consumer i () = consume crew received.(i) in
    let mine i = i mod 2 = crew.index in
    let here f = List.init all Fun.id |> List.filter mine |> List.map f in
    match (apart, crew.index) with
    | true, 0 -> List.init all (produce crew)
    | true, _ -> List.init all consumer
    | false, _ -> here (produce crew) @ here consumer
  in
  let tally = storm hosts tasks in
  for producer = 0 to all - 1 do
    let numbers =
      List.concat_map (fun mine -> mine.(producer)) (Array.to_list received)
    in
    if List.sort Int.compare numbers <> List.init last succ then
      fail "not every value of producer %d arrived once" producer
  done;
  if not (queue.at_rest ()) then fail "something is left";
  tally

(* --- Broadcast -------------------------------------------------------------- *)

let receive =
  [|
    Broadcast.receive;
    (fun s -> Event.sync (Broadcast.receive_evt s));
    (fun s -> twice (Broadcast.receive_evt s));
    (fun s ->
      match Broadcast.try_receive s with
      | Some v -> v
      | None -> Broadcast.receive s);
  |]

let rec is_suffix part whole =
  part = whole || match whole with [] -> false | _ :: w -> is_suffix part w

(* A subscription from the beginning receives all values in order. A later one receives the
   values from some point on. Two tasks that share a subscription receive all values between
   them, each in order. *)
let broadcast ~last hosts =
  let t = Broadcast.create () in
  let sending = Atomic.make 4 in
  let early = Array.init 4 (fun _ -> (Broadcast.subscribe t, ref [])) in
  let late = Array.init 2 (fun _ -> ref []) in
  let shared = Broadcast.subscribe t in
  let shares = Array.init 4 (fun _ -> ref []) in
  let send crew producer () =
    for number = 1 to last do
      Broadcast.send t { producer; number };
      (* Because of this, the others wait for more values most of the time. *)
      for _ = 1 to Random.State.int crew.random 16 do
        yield crew
      done
    done;
    if Atomic.fetch_and_add sending (-1) = 1 then Broadcast.close t
  in
  let rec follow crew s values =
    let next () =
      match (any crew receive) s with v -> Some v | exception Closed -> None
    in
    match insist crew next with
    | None -> ()
    | Some v ->
        values := v :: !values;
        follow crew s values
  in
  let come_late crew values () =
    for _ = 1 to Random.State.int crew.random 100 do
      yield crew
    done;
    follow crew (Broadcast.subscribe t) values
  in
  let tasks crew =
    let mine all = [ all.(crew.index); all.(crew.index + 2) ] in
    List.map (send crew) [ crew.index; crew.index + 2 ]
    @ List.map (fun (s, values) () -> follow crew s values) (mine early)
    @ List.map (fun values () -> follow crew shared values) (mine shares)
    @ [ come_late crew late.(crew.index) ]
  in
  let tally = storm hosts tasks in
  let order = List.rev !(snd early.(0)) in
  for producer = 0 to 3 do
    let numbers =
      List.filter (fun m -> m.producer = producer) order
      |> List.map (fun m -> m.number)
    in
    if numbers <> List.init last succ then
      fail "a subscription misses values of %d" producer
  done;
  Array.iter
    (fun (s, values) ->
      if List.rev !values <> order then fail "two subscriptions differ";
      if Broadcast.waiters s <> 0 then fail "a waiter stays")
    early;
  Array.iter
    (fun values ->
      if not (is_suffix (List.rev !values) order) then
        fail "a late subscription has a gap")
    late;
  let place = Hashtbl.create 1000 in
  List.iteri (fun i v -> Hashtbl.replace place v i) order;
  let places values = List.rev_map (Hashtbl.find place) !values in
  let shares = Array.to_list (Array.map places shares) in
  List.iter
    (fun share ->
      if List.sort Int.compare share <> share then
        fail "a shared subscription is not in order")
    shares;
  if
    List.sort Int.compare (List.concat shares)
    <> List.init (List.length order) Fun.id
  then fail "a shared subscription misses values";
  tally

(* If values are dropped, each subscription receives the values of a producer in order. It
   receives all values except those that it was told it has missed. *)
let limited ~last hosts =
  let t = Broadcast.create ~limit:(Drop_oldest 3) () in
  let sending = Atomic.make 4 in
  let alone = Array.init 2 (fun _ -> (Broadcast.subscribe t, ref [], ref 0)) in
  let shared = Broadcast.subscribe t in
  let shares = Array.init 4 (fun _ -> (shared, ref [], ref 0)) in
  let send crew producer () =
    for number = 1 to last do
      Broadcast.send t { producer; number };
      for _ = 1 to Random.State.int crew.random 4 do
        yield crew
      done
    done;
    if Atomic.fetch_and_add sending (-1) = 1 then Broadcast.close t
  in
  let rec follow crew ((s, values, missed) as it) () =
    let next () =
      match (any crew receive) s with
      | v -> Some (Ok v)
      | exception Broadcast.Lagged n -> Some (Error n)
      | exception Closed -> None
    in
    match insist crew next with
    | None -> ()
    | Some (Ok v) ->
        values := v :: !values;
        follow crew it ()
    | Some (Error n) ->
        missed := !missed + n;
        follow crew it ()
  in
  let tasks crew =
    List.map (send crew) [ crew.index; crew.index + 2 ]
    @ List.map (follow crew)
        [ alone.(crew.index); shares.(crew.index); shares.(crew.index + 2) ]
  in
  let tally = storm hosts tasks in
  let in_order (_, values, _) =
    for producer = 0 to 3 do
      let numbers =
        List.filter (fun m -> m.producer = producer) !values
        |> List.rev_map (fun m -> m.number)
      in
      if List.sort_uniq Int.compare numbers <> numbers then
        fail "values of %d are out of order" producer
    done
  in
  Array.iter in_order alone;
  Array.iter in_order shares;
  let total its =
    List.fold_left
      (fun n (_, values, missed) -> n + List.length !values + !missed)
      0 its
  in
  let check what its =
    let n = total its in
    if n <> 4 * last then
      fail "%s: %d received and missed, of %d" what n (4 * last)
  in
  Array.iter (fun it -> check "alone" [ it ]) alone;
  check "shared" (Array.to_list shares);
  if Broadcast.waiters shared <> 0 then fail "a waiter stays";
  tally

let send =
  [|
    Broadcast.send;
    (fun t v -> Event.sync (Broadcast.send_evt t v));
    (fun t v -> ignore (twice (Event.wrap (Broadcast.send_evt t v) one)));
    (fun t v -> if not (Broadcast.try_send t v) then Broadcast.send t v);
  |]

(* If senders wait, a subscription from the beginning receives all values, and never has more
   than [limit] values ahead. Others subscribe for a while, and end. *)
let held ~last hosts =
  let limit = 3 in
  let t = Broadcast.create ~limit:(Wait limit) () in
  let sending = Atomic.make 4 in
  let early = Array.init 2 (fun _ -> (Broadcast.subscribe t, ref [])) in
  let shared = Broadcast.subscribe t in
  let shares = Array.init 4 (fun _ -> (shared, ref [])) in
  let brief = Array.init 2 (fun _ -> ref []) in
  let produce crew producer () =
    for number = 1 to last do
      insist crew (fun () -> (any crew send) t { producer; number });
      for _ = 1 to Random.State.int crew.random 2 do
        yield crew
      done
    done;
    if Atomic.fetch_and_add sending (-1) = 1 then Broadcast.close t
  in
  (* Returns whether there was a value. *)
  let take crew s values () =
    match (any crew receive) s with
    | v ->
        values := v :: !values;
        true
    | exception Closed -> false
  in
  let rec follow crew (s, values) () =
    let there =
      if Random.State.bool crew.random then Broadcast.drain s else []
    in
    if List.length there > limit then fail "more than the limit are there";
    values := List.rev_append there !values;
    if insist crew (take crew s values) then follow crew (s, values) ()
  in
  let rec visit crew visits () =
    let visit_once () =
      Broadcast.with_subscription t @@ fun s ->
      let values = ref [] in
      let rec stay n = n = 0 || (take crew s values () && stay (n - 1)) in
      let open_ = stay (Random.State.int crew.random 5) in
      visits := List.rev !values :: !visits;
      open_
    in
    if insist crew visit_once then begin
      yield crew;
      visit crew visits ()
    end
  in
  let tasks crew =
    let mine all = [ all.(crew.index); all.(crew.index + 2) ] in
    List.map (produce crew) [ crew.index; crew.index + 2 ]
    @ List.map (follow crew) (early.(crew.index) :: mine shares)
    @ [ visit crew brief.(crew.index) ]
  in
  let tally = storm hosts tasks in
  let order = List.rev !(snd early.(0)) in
  for producer = 0 to 3 do
    let numbers =
      List.filter (fun m -> m.producer = producer) order
      |> List.map (fun m -> m.number)
    in
    if numbers <> List.init last succ then
      fail "the values of %d are not what it sent" producer
  done;
  if List.rev !(snd early.(1)) <> order then fail "two subscriptions differ";
  let place = Hashtbl.create 1000 in
  List.iteri (fun i v -> Hashtbl.replace place v i) order;
  let in_a_row values =
    match List.map (Hashtbl.find place) values with
    | [] -> true
    | first :: _ as places ->
        places = List.init (List.length places) (fun i -> first + i)
  in
  Array.iter
    (fun visits ->
      if not (List.for_all in_a_row !visits) then fail "a visitor has a gap")
    brief;
  let shares = Array.to_list shares in
  let places = List.concat_map (fun (_, values) -> !values) shares in
  let places = List.map (Hashtbl.find place) places in
  if List.sort Int.compare places <> List.init (List.length order) Fun.id then
    fail "a shared subscription misses values";
  if Broadcast.senders t + Broadcast.waiters shared <> 0 then
    fail "a waiter stays";
  tally

let () =
  let last = 1_000 in
  rounds
    (if long then 1_000 else 3)
    [
      ("channel", pass_on channel ~last);
      ("stream of 1", pass_on (stream 1) ~last);
      ("stream of 3", pass_on (stream 3) ~last);
      ("stream of 100", pass_on (stream 100) ~last);
      ("queue of work of 1", pass_on (work_queue 1) ~last);
      ("queue of work of 3", pass_on (work_queue 3) ~last);
      ("mailbox", pass_on mailbox ~last);
      ("mutex, condition", pass_on (buffer 3) ~last);
      ("broadcast", broadcast ~last);
      ("broadcast with a limit", limited ~last);
      ("broadcast that holds senders back", held ~last);
    ]
