type t = { run : 'a. (((unit -> unit) -> unit) -> 'a) -> 'a }

let fifo =
  let fork f = ignore (Concord_fifo.fork f : Concord_fifo.handle) in
  { run = (fun f -> Concord_fifo.run (fun () -> f fork)) }

let eio =
  let run f =
    Eio_main.run (fun _ ->
        Eio.Switch.run (fun sw -> f (fun g -> Eio.Fiber.fork ~sw g)))
  in
  { run }

let thread =
  let run f =
    let threads = ref [] and result = ref (Error Exit) in
    let fork g = threads := Thread.create g () :: !threads in
    let first () =
      result := match f fork with v -> Ok v | exception e -> Error e
    in
    Thread.join (Thread.create first ());
    List.iter Thread.join !threads;
    match !result with Ok v -> v | Error e -> raise e
  in
  { run }

let domain =
  let fork _ = invalid_arg "Host.domain: forks nothing" in
  { run = (fun f -> f fork) }

let check what expected actual =
  if actual <> expected then
    Printf.ksprintf failwith "%s: %d instead of %d" what actual expected

let check_sum n sum = check "sum of the messages" (n * (n + 1) / 2) sum

type shape = produce:(int -> unit) -> consume:(int -> int) -> int -> float

let serial host ~produce ~consume n =
  host.run (fun fork ->
      let start = Meter.now () in
      fork (fun () -> produce n);
      let sum = consume n in
      let ns = Meter.ns_since start in
      check_sum n sum;
      ns)

(* This number of messages passes before the clock is read. By then both domains run, their
   loops are in step, and their minor heaps are mapped. *)
let meeting = 1_000

let parallel host ~produce ~consume n =
  let producer =
    Domain.spawn (fun () ->
        host.run (fun _ ->
            produce meeting;
            produce n))
  in
  let ns =
    host.run (fun _ ->
        check_sum meeting (consume meeting);
        let start = Meter.now () in
        let sum = consume n in
        let ns = Meter.ns_since start in
        check_sum n sum;
        ns)
  in
  Domain.join producer;
  ns

let serial_lwt ~produce ~consume n =
  let start = Meter.now () in
  let producer = produce n in
  let sum = Lwt_main.run (consume n) in
  let ns = Meter.ns_since start in
  Lwt_main.run producer;
  check_sum n sum;
  ns

let alone host work n =
  host.run (fun _ ->
      let start = Meter.now () in
      work n;
      Meter.ns_since start)

let both host work n =
  let ready = Atomic.make 0 in
  let half () =
    host.run (fun _ ->
        work meeting;
        Atomic.incr ready;
        while Atomic.get ready < 2 do
          Domain.cpu_relax ()
        done;
        let start = Meter.now () in
        work (n / 2);
        Meter.ns_since start)
  in
  let other = Domain.spawn half in
  let ns = half () in
  Float.max ns (Domain.join other)

(* The tasks of a crew share these fields. All of them run on one domain, so plain fields are
   enough. A system thread can be switched only where it allocates, calls or loops, and not
   between the read and the write of an increment. *)
type crew = {
  warm : int;
  last : int;
  mutable operations : int;
  mutable start : Meter.instant;
  mutable ns : float;
  mutable ended : int;
}

let new_crew ~tasks n =
  let warm = min tasks meeting in
  let start = Meter.now () in
  { warm; last = warm + n; operations = 0; start; ns = 0.; ended = 0 }

let another crew () =
  crew.operations <- crew.operations + 1;
  if crew.operations = crew.warm then crew.start <- Meter.now ()
  else if crew.operations = crew.last then crew.ns <- Meter.ns_since crew.start;
  crew.operations < crew.last

let finish crew ~tasks =
  check "tasks that ended" tasks crew.ended;
  crew.ns

let crew host ~tasks ~hold ~free work n =
  let crew = new_crew ~tasks n in
  let task () =
    work (another crew);
    crew.ended <- crew.ended + 1
  in
  host.run (fun fork ->
      hold ();
      for _ = 1 to tasks do
        fork task
      done;
      free ());
  finish crew ~tasks

let crew_lwt ~tasks ~hold ~free work n =
  let crew = new_crew ~tasks n in
  let task (_ : int) =
    Lwt.map (fun () -> crew.ended <- crew.ended + 1) (work (another crew))
  in
  Lwt_main.run
    (Lwt.bind (hold ()) (fun () ->
         let all = List.init tasks task in
         free ();
         Lwt.join all));
  finish crew ~tasks

let lwt_times n f =
  let left = ref n in
  let rec loop () =
    if !left = 0 then Lwt.return_unit
    else (
      decr left;
      Lwt.bind (f ()) loop)
  in
  loop ()

let alone_lwt f n =
  let start = Meter.now () in
  Lwt_main.run (lwt_times n f);
  Meter.ns_since start

let growth host ~wait ~wake n =
  let woken = ref 0 in
  let task () =
    wait ();
    incr woken
  in
  let bytes =
    host.run (fun fork ->
        let before = Meter.resident_bytes () in
        for _ = 1 to n do
          fork task
        done;
        let bytes = Meter.resident_bytes () -. before in
        check "tasks that did not wait" 0 !woken;
        wake ();
        bytes)
  in
  check "tasks that ended" n !woken;
  bytes
