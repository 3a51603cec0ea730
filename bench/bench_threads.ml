open Case

(* --- Locks ----------------------------------------------------------------------- *)

(* Calls a function while the lock is held. *)
type lock = { within : (unit -> unit) -> unit }

let stdlib_mutex () =
  let t = Mutex.create () in
  let within f =
    Mutex.lock t;
    f ();
    Mutex.unlock t
  in
  { within }

let stdlib_semaphore () =
  let t = Semaphore.Counting.make 1 in
  let within f =
    Semaphore.Counting.acquire t;
    f ();
    Semaphore.Counting.release t
  in
  { within }

let protecting t = { within = (fun f -> Concord.Mutex.protect t f) }
let mutex () = protecting (Concord.Mutex.create ())

let semaphore () =
  let t = Concord.Semaphore.Counting.make 1 in
  { within = (fun f -> Concord.Semaphore.Counting.with_permit t f) }

let rwlock () =
  let t = Concord.Rwlock.create () in
  { within = (fun f -> Concord.Rwlock.write t f) }

let mvar () =
  let t = Concord.Mvar.create () in
  { within = (fun f -> Concord.Mvar.modify t (fun () -> (f (), ()))) }

let locks =
  [
    ("stdlib-semaphore", stdlib_semaphore);
    ("concord", mutex);
    ("concord-semaphore", semaphore);
    ("concord-rwlock", rwlock);
    ("concord-mvar", mvar);
  ]

(* --- The work under the lock ----------------------------------------------------- *)

let null = lazy (Unix.openfile "/dev/null" [ O_WRONLY ] 0)
let line = Bytes.make 16 '\n'

let write () =
  ignore (Unix.write (Stdlib.Lazy.force null) line 0 (Bytes.length line) : int)

let sleep () = Thread.delay 50e-6

let busy () =
  let start = Meter.now () in
  while Meter.ns_since start < 1e3 do
    ()
  done

(* --- Runs --------------------------------------------------------------------------- *)

(* Runs [each] in this number of threads on each of this number of domains. *)
let in_threads ~domains ~threads each =
  let domain _ =
    Domain.spawn @@ fun () ->
    List.iter Thread.join (List.init threads (fun _ -> Thread.create each ()))
  in
  List.iter Domain.join (List.init domains domain)

let check = Host.check "operations"

type run = {
  total_ns : float;
  worst_ns : float;
  most : int;  (** How many operations the busiest thread has done. *)
}

let run lock ~domains ~threads section n =
  ignore (Stdlib.Lazy.force null : Unix.file_descr);
  let lock = lock () and left = Atomic.make n and done_ = Atomic.make 0 in
  let worst = Atomic.make 0. and most = Atomic.make 0 in
  let rec raise_to word value =
    let before = Atomic.get word in
    if value > before && not (Atomic.compare_and_set word before value) then
      raise_to word value
  in
  let each () =
    let own = ref 0. and count = ref 0 in
    let start = ref (Meter.now ()) in
    let with_lock () =
      own := Float.max !own (Meter.ns_since !start);
      section ();
      incr count
    in
    while Atomic.fetch_and_add left (-1) > 0 do
      start := Meter.now ();
      lock.within with_lock
    done;
    raise_to worst !own;
    raise_to most !count;
    ignore (Atomic.fetch_and_add done_ !count : int)
  in
  let start = Meter.now () in
  in_threads ~domains ~threads each;
  let total_ns = Meter.ns_since start in
  check n (Atomic.get done_);
  { total_ns; worst_ns = Atomic.get worst; most = Atomic.get most }

let operations = { full = 500_000; quick = 200_000; least = 1_000 }
let sleeps = { full = 20_000; quick = 2_000; least = 50 }

let under_lock ?(figure = Figure.ns) ?(operations = operations) ?(domains = 1)
    ?(threads = 4) case title section value =
  let row (impl, lock) =
    row ~case ~impl ~host:"thread"
      (counted figure operations (fun n ->
           value n (run lock ~domains ~threads section n)))
  in
  {
    title;
    baseline = row ("stdlib", stdlib_mutex);
    others = List.map row locks;
  }

let time _ run = run.total_ns

(* The value of a row is divided by the number of operations later, so this multiplies it. *)
let worst n run = float_of_int n *. run.worst_ns
let share _ run = 100. *. float_of_int run.most

(* --- A queue, as a user would write it -------------------------------------------------- *)

(* Four threads add, and four threads take. *)
let through make ~domains n =
  let each = Int.max 1 (n / 4) in
  let queue : Bounded.t = make ()
  and sum = Atomic.make 0
  and next = Atomic.make 0 in
  let work () =
    if Atomic.fetch_and_add next 1 land 1 = 0 then
      for i = 1 to each do
        queue.add i
      done
    else
      for _ = 1 to each do
        ignore (Atomic.fetch_and_add sum (queue.take ()) : int)
      done
  in
  let start = Meter.now () in
  in_threads ~domains ~threads:(8 / domains) work;
  let ns = Meter.ns_since start in
  check (4 * (each * (each + 1) / 2)) (Atomic.get sum);
  ns

let items = { full = 1_000_000; quick = 100_000; least = 400 }

let queues case ~domains title =
  let row (impl, make) =
    row ~case ~impl ~host:"thread"
      (counted Figure.ns items (through make ~domains))
  in
  {
    title;
    baseline = row ("stdlib", fun () -> Bounded.stdlib ());
    others =
      List.map row [ ("concord", Bounded.concord); ("stream", Bounded.stream) ];
  }

let group =
  {
    name = "threads";
    doc =
      "system threads that hold a lock across something slow, against Stdlib";
    comparisons =
      [
        under_lock "threads-write"
          "writing 16 bytes under a lock, by 4 threads, 1 domain" write time;
        under_lock "threads-yield"
          "a yield under a lock, by 4 threads, 1 domain" Thread.yield time;
        under_lock "threads-write-worst" ~figure:Figure.ms
          "the longest wait of 4 threads that write under a lock, 1 domain"
          write worst;
        under_lock "threads-write-share" ~figure:Figure.percent
          "the share of the busiest of 4 threads that write under a lock, 1 \
           domain"
          write share;
        under_lock "threads-yield-worst" ~figure:Figure.ms
          "the longest wait of 4 threads that yield under a lock, 1 domain"
          Thread.yield worst;
        under_lock "threads-yield-share" ~figure:Figure.percent
          "the share of the busiest of 4 threads that yield under a lock, 1 \
           domain"
          Thread.yield share;
        under_lock "threads-2-domains" ~domains:2 ~threads:2
          "1 us of work under a lock, by 2 threads of each of 2 domains" busy
          time;
        under_lock "threads-8-domains" ~domains:8 ~threads:1
          "locking and unlocking, by 8 domains" ignore time;
        under_lock "threads-sleep-worst" ~figure:Figure.ms ~operations:sleeps
          "the longest wait of 4 threads that sleep 50 us under a lock, 1 \
           domain"
          sleep worst;
        queues "threads-queue" ~domains:1
          "an item through a queue of 100, of a mutex and conditions, or a \
           stream, by 4 threads to 4, 1 domain";
        queues "threads-queue-2-domains" ~domains:2
          "an item through a queue of 100, of a mutex and conditions, or a \
           stream, by 4 threads to 4, 2 domains";
      ];
  }
