open Concord_bench
open Case
open Picos_std_structured
open Picos_std_sync
open Host_picos

(* --- Boxes ---------------------------------------------------------------- *)

type 'a box = {
  mutable field : 'a;
  empty : Semaphore.Binary.t;
  full : Semaphore.Binary.t;
}

let box field =
  {
    field;
    empty = Semaphore.Binary.make true;
    full = Semaphore.Binary.make false;
  }

let put box v =
  Semaphore.Binary.acquire box.empty;
  box.field <- v;
  Semaphore.Binary.release box.full

let take box =
  Semaphore.Binary.acquire box.full;
  let v = box.field in
  Semaphore.Binary.release box.empty;
  v

let put_all box n =
  for i = 1 to n do
    put box i
  done

let take_all box n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + take box
  done;
  !sum

let through_box (shape : Host.shape) n =
  let box = box 0 in
  shape ~produce:(put_all box) ~consume:(take_all box) n

let of_mvar =
  [
    picos "serial" (Time (through_box (Host.serial host)));
    picos "parallel" (Time (through_box (Host.parallel host)));
    picos "table1-serial" (Time (through_box (Host.serial host)));
    picos "table1-parallel" (Time (through_box (Host.parallel host)));
  ]

(* --- Bounded queues ------------------------------------------------------- *)

type 'a bounded = {
  queue : 'a Queue.t;
  mutex : Mutex.t;
  room : Semaphore.Counting.t;
  length : Semaphore.Counting.t;
}

let bounded capacity =
  {
    queue = Queue.create ();
    mutex = Mutex.create ();
    room = Semaphore.Counting.make capacity;
    length = Semaphore.Counting.make 0;
  }

let add t n =
  for i = 1 to n do
    Semaphore.Counting.acquire t.room;
    Mutex.lock t.mutex;
    Queue.push i t.queue;
    Mutex.unlock t.mutex;
    Semaphore.Counting.release t.length
  done

let remove t n =
  let sum = ref 0 in
  for _ = 1 to n do
    Semaphore.Counting.acquire t.length;
    Mutex.lock t.mutex;
    let i = Queue.pop t.queue in
    Mutex.unlock t.mutex;
    Semaphore.Counting.release t.room;
    sum := !sum + i
  done;
  !sum

let through_bounded ~capacity (shape : Host.shape) n =
  let t = bounded capacity in
  shape ~produce:(add t) ~consume:(remove t) n

let bounded_row kind shape capacity =
  picos
    (Printf.sprintf "stream%d-%s" capacity kind)
    (Time (through_bounded ~capacity shape))

(* --- Streams. They are unbounded, and every reader sees all messages ------- *)

let receive cursor =
  let v, next = Stream.read !cursor in
  cursor := next;
  v

let reader stream = ref (Stream.tap stream)

let mailbox shape n =
  let stream = Stream.create () and answers = Stream.create () in
  let messages = reader stream and answered = reader answers in
  let send after n =
    for i = after + 1 to after + n do
      Stream.push stream i
    done
  in
  let receive_all n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + receive messages
    done;
    !sum
  in
  Bench_mailbox.mailbox shape ~send ~receive:receive_all
    ~wait_for_answer:(fun () -> receive answered)
    ~answer:(fun () -> Stream.push answers ())
    n

let broadcast n =
  let stream = Stream.create () in
  let subscribe () =
    let cursor = reader stream in
    fun () -> receive cursor
  in
  Bench_mailbox.broadcast host ~yield:Control.yield ~send:(Stream.push stream)
    ~subscribe n

(* --- Rounds through fresh promises ------------------------------------------ *)

type ball = { number : int; answer : ball Ivar.t }

let rounds (shape : Host.shape) n =
  let first = Ivar.create () in
  let to_send = ref first and to_receive = ref first in
  let produce n =
    for number = 1 to n do
      let answer = Ivar.create () in
      Ivar.fill !to_send { number; answer };
      to_send := (Ivar.read answer).answer
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      let { number; answer } = Ivar.read !to_receive in
      sum := !sum + number;
      to_receive := Ivar.create ();
      Ivar.fill answer { number; answer = !to_receive }
    done;
    !sum
  in
  shape ~produce ~consume n

let of_structures =
  List.map (bounded_row "serial" (Host.serial host)) [ 1; 100; 10_000 ]
  @ List.map (bounded_row "parallel" (Host.parallel host)) [ 1; 100 ]
  @ [
      picos "promise-serial" (Time (rounds (Host.serial host)));
      picos "promise-parallel" (Time (rounds (Host.parallel host)));
      picos "mailbox-serial" (Time (mailbox (Host.serial host)));
      picos "mailbox-parallel" (Time (mailbox (Host.parallel host)));
      picos "broadcast-serial" (Time broadcast);
    ]
