(* A bounded buffer made of a mutex and two conditions. It can be closed. *)

type 'a t = {
  mutex : Mutex.t;
  not_empty : Condition.t;
  not_full : Condition.t;
  items : 'a Queue.t;
  capacity : int;
  mutable closed : bool;
  mutable most : int;
}

let create capacity =
  {
    mutex = Mutex.create ();
    not_empty = Condition.create ();
    not_full = Condition.create ();
    items = Queue.create ();
    capacity;
    closed = false;
    most = 0;
  }

let add t v =
  Mutex.lock t.mutex;
  while Queue.length t.items >= t.capacity do
    Condition.wait t.not_full t.mutex
  done;
  Queue.push v t.items;
  t.most <- max t.most (Queue.length t.items);
  Condition.signal t.not_empty;
  Mutex.unlock t.mutex

let take t =
  Mutex.protect t.mutex @@ fun () ->
  while Queue.is_empty t.items && not t.closed do
    Condition.wait t.not_empty t.mutex
  done;
  Condition.signal t.not_full;
  Queue.take_opt t.items

let close t =
  Mutex.lock t.mutex;
  t.closed <- true;
  Mutex.unlock t.mutex;
  Condition.broadcast t.not_empty

let producers = 3
let items = 500

(* Collects the items of each producer, latest first. *)
let rec consume t got =
  match take t with
  | None -> ()
  | Some (producer, item) ->
      got.(producer) <- item :: got.(producer);
      consume t got

let produce t producer =
  for item = 1 to items do
    add t (producer, item)
  done

let rec decreasing = function
  | a :: (b :: _ as rest) -> a > b && decreasing rest
  | _ -> true

let () =
  let t = create 4 in
  let gots = List.init 3 (fun _ -> Array.make producers []) in
  let consumers = List.map (Thread.create (consume t)) gots in
  let here = List.init (producers - 1) (Thread.create (produce t)) in
  let there = Domain.spawn (fun () -> produce t (producers - 1)) in
  List.iter Thread.join here;
  Domain.join there;
  close t;
  List.iter Thread.join consumers;
  for producer = 0 to producers - 1 do
    let lists = List.map (fun got -> got.(producer)) gots in
    let all = List.sort compare (List.concat lists) in
    Printf.printf "from %d: all %b, in order %b\n" producer
      (all = List.init items succ)
      (List.for_all decreasing lists)
  done;
  Printf.printf "never more than 4: %b\n" (t.most <= 4);
  Printf.printf "closed: %b\n" (take t = None)
