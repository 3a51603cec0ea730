open Case

(* --- Adding and taking -------------------------------------------------------- *)

let items = 100

let free_concord host n =
  let queue = Concord.Work_queue.create (items + 1) in
  Concord.Work_queue.add_seq queue (Seq.init items Fun.id);
  let work n =
    for i = 1 to n do
      ignore (Concord.Work_queue.add queue i : int Concord.Work_queue.ticket);
      ignore (Concord.Work_queue.take queue : int)
    done
  in
  Host.alone host work n

let free_eio n =
  Host.alone Host.eio
    (fun n ->
      let stream = Eio.Stream.create (items + 1) in
      for i = 1 to items do
        Eio.Stream.add stream i
      done;
      for i = 1 to n do
        Eio.Stream.add stream i;
        ignore (Eio.Stream.take stream : int)
      done)
    n

let work_queue_free =
  let case = "work-queue-free" in
  {
    title =
      Printf.sprintf
        "adding an item to a bounded queue and taking the first one, of %d, 1 \
         domain (eio: a stream, whose items can't be withdrawn)"
        items;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time free_eio);
    others = Ours.rows ~case Ours.one_task free_concord;
  }

(* --- Withdrawing ---------------------------------------------------------------- *)

let withdraw_concord host n =
  let queue = Concord.Work_queue.create (items + 1) in
  Concord.Work_queue.add_seq queue (Seq.init items Fun.id);
  let work n =
    for i = 1 to n do
      let ticket = Concord.Work_queue.add queue i in
      if not (Concord.Work_queue.withdraw ticket) then
        failwith "an item was taken, so it could not be withdrawn"
    done
  in
  Host.alone host work n

(* What programs do without Concord. Their tasks can't wait in this queue. *)
let withdraw_by_hand n =
  let mutex = Mutex.create () and queue = Lwt_dllist.create () in
  for i = 1 to items do
    ignore (Lwt_dllist.add_r i queue : int Lwt_dllist.node)
  done;
  let work n =
    for i = 1 to n do
      let node = Mutex.protect mutex (fun () -> Lwt_dllist.add_r i queue) in
      Mutex.protect mutex (fun () -> Lwt_dllist.remove node)
    done
  in
  Host.alone Host.domain work n

let work_queue_withdraw =
  let case = "work-queue-withdraw" in
  {
    title =
      Printf.sprintf
        "adding an item behind %d others and withdrawing it, 1 domain (stdlib: \
         a mutex, and Lwt's doubly-linked list)"
        items;
    baseline = row ~case ~impl:"stdlib" ~host:"domain" (Time withdraw_by_hand);
    others = Ours.rows ~case Ours.one_task withdraw_concord;
  }

let comparisons = beside [ work_queue_free; work_queue_withdraw ]
