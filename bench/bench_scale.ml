open Case

(* Measures how the cost of an operation grows with the number of things. The rows of a
   comparison are the same operation with more and more things. The baseline has the smallest
   number. *)

type measure = things:int -> int -> float

let subject ~name ~host ~what sizes (measure : measure) =
  let row size =
    let f ~tasks n = measure ~things:tasks n in
    row
      ~case:(Printf.sprintf "%s-%d" name size)
      ~impl:"concord" ~host
      (Crowd (size, f))
  in
  match List.map row sizes with
  | [] -> invalid_arg "Bench_scale.subject: no size"
  | baseline :: others -> { title = what; baseline; others }

let of_memory = [ 10; 1_000; 100_000; 1_000_000 ]
let of_loops = [ 10; 1_000; 100_000 ]
let check_all what things woken = Host.check what things !woken

(* --- Tasks ------------------------------------------------------------------ *)

let turns host yield ~things n =
  let work another =
    while another () do
      yield ()
    done
  in
  Host.crew host ~tasks:things ~hold:ignore ~free:ignore work n

(* Each of the other tasks calls [wait ()], and [wake ()] ends the wait of one of them. *)
let among (host : Host.t) ~wait ~wake ~produce ~consume ~things n =
  let woken = ref 0 in
  let other () =
    wait ();
    incr woken
  in
  let ns =
    host.run (fun fork ->
        for _ = 1 to things do
          fork other
        done;
        (* A full collection first, because the work of the collector for the other tasks must
           not be measured. *)
        Gc.full_major ();
        let inner = { Host.run = (fun f -> f fork) } in
        let pass = Host.serial inner ~produce ~consume in
        ignore (pass Host.meeting : float);
        let ns = pass n in
        for _ = 1 to things do
          wake ()
        done;
        ns)
  in
  check_all "tasks that were woken" things woken;
  ns

let beside_waiting host ~things n =
  let box = Concord.Mvar.create_empty ()
  and idle = Concord.Semaphore.Counting.make 0 in
  among host ~things n ~produce:(Passing.put box) ~consume:(Passing.take box)
    ~wait:(fun () -> Concord.Semaphore.Counting.acquire idle)
    ~wake:(fun () -> Concord.Semaphore.Counting.release idle)

(* --- Structures --------------------------------------------------------------- *)

(* The receiver waits for each message, however many channels there are. *)
let channels host ~things =
  warmed_up (fun n ->
      let channels = Passing.channels things in
      Host.serial host ~produce:(Passing.send channels)
        ~consume:(Passing.receive channels) n)

(* --- Timeouts ------------------------------------------------------------------ *)

let long_s = 10.
let very_long_s = 1_000.

let timeouts host ~things n =
  let box = Concord.Mvar.create_empty ()
  and idle = Concord.Mvar.create_empty () in
  among host ~things n ~produce:(Passing.put box)
    ~consume:(Passing.take_before long_s box)
    ~wait:(fun () -> Passing.before very_long_s (Concord.Mvar.take_evt idle))
    ~wake:(fun () -> Concord.Mvar.put idle ())

(* --- Alternatives ---------------------------------------------------------------- *)

let choice host ~things =
  warmed_up (Passing.selected ~ways:things (Host.serial host))

(* --- Domains ---------------------------------------------------------------------- *)

(* Each domain does an equal part of the work, after one operation to warm up. *)
let together ~things work n =
  let ready = Atomic.make 0 in
  let part () =
    work 1;
    Atomic.incr ready;
    while Atomic.get ready < things do
      Domain.cpu_relax ()
    done;
    let start = Meter.now () in
    work ((n + things - 1) / things);
    Meter.ns_since start
  in
  let others = List.init (things - 1) (fun _ -> Domain.spawn part) in
  let ns = part () in
  List.fold_left (fun ns d -> Float.max ns (Domain.join d)) ns others

let shared_mutex ~things n =
  let mutex = Concord.Mutex.create () in
  let work n =
    for _ = 1 to n do
      Concord.Mutex.lock mutex;
      Concord.Mutex.unlock mutex
    done
  in
  together ~things work n

let own_boxes ~things n =
  let work n =
    let box = Concord.Mvar.create_empty () in
    for i = 1 to n do
      Concord.Mvar.put box i;
      Host.check "message" i (Concord.Mvar.take box)
    done
  in
  together ~things work n

(* --- The group ---------------------------------------------------------------------- *)

let on_both ~name ~what ?(fifo = of_loops) ?(eio = of_loops) measure =
  let subject = subject ~name in
  [
    subject ~host:"fifo" ~what:(what ^ ", Fifo") fifo (measure Host.fifo);
    subject ~host:"eio" ~what:(what ^ ", Eio") eio (measure Host.eio);
  ]

let domains = [ 1; 2; 4; 8 ]

let group =
  let subject_on_domains = subject ~host:"domain" domains in
  let small = [ 1; 10; 100; 1_000 ] in
  {
    name = "scale";
    doc = "how the cost of an operation grows with the number of what there is";
    comparisons =
      List.concat
        [
          [
            subject ~name:"yielding" ~host:"fifo" of_memory
              ~what:"one yield, by so many tasks in turns, Fifo"
              (turns Host.fifo Concord_fifo.yield);
            subject ~name:"yielding" ~host:"eio" of_loops
              ~what:"one yield, by so many tasks in turns, Eio"
              (turns Host.eio Eio.Fiber.yield);
            subject ~name:"mutex" ~host:"fifo" of_memory
              ~what:
                "locking, yielding and unlocking, by one of so many tasks of \
                 which the others wait, Fifo" (fun ~things ->
                Bench_mutex.contended_concord Host.fifo
                  ~yield:Concord_fifo.yield ~tasks:things);
            subject ~name:"cancelled" ~host:"fifo" of_memory
              ~what:
                "a task forked that waits for a mutex among so many others, \
                 cancelled, and waited for, Fifo" (fun ~things ->
                Bench_cancel.among_waiters ~tasks:things);
          ];
          on_both ~name:"waiting" ~fifo:of_memory beside_waiting
            ~what:"one message of two tasks, beside so many that wait";
          on_both ~name:"channels" ~fifo:of_memory channels
            ~what:
              "one rendezvous of two tasks, through so many channels in turns";
          on_both ~name:"timeouts" timeouts
            ~fifo:[ 1; 100; 10_000; 100_000 ]
            ~eio:[ 1; 100; 10_000; 100_000 ]
            ~what:
              "one message of two tasks, received with a timeout, among so \
               many timeouts of others";
          on_both ~name:"choice" choice ~fifo:small ~eio:small
            ~what:"one message, received by a choice of so many alternatives";
          [
            subject ~name:"threads" ~host:"thread" small
              ~what:
                "one message of two system threads, beside so many that wait"
              (beside_waiting Host.thread);
            subject_on_domains ~name:"domains-one-mutex" shared_mutex
              ~what:"locking and unlocking one mutex, by so many domains";
            subject_on_domains ~name:"domains-own-box" own_boxes
              ~what:
                "a message put and taken, by so many domains, each with its \
                 own box";
          ];
        ];
  }
