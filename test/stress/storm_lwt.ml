(* Lwt's loop among domains. First four domains flood it with wake-ups, and then [Lwt.cancel]
   races with resumption, on several structures. No value is lost or duplicated. *)

open Concord
open Concord_test_support.Race
open Lwt.Syntax
open Lwt_ways

let domains = 4
let flood = if long then 1_000_000 else 40_000
let storm = if long then 400_000 else 10_000

(* --- The flood ------------------------------------------------------------- *)

(* Lwt takes in all its styles at once. *)
let flood_through (name, make) =
  let n = flood / List.length ways in
  let way = make () and ledger = ledger n in
  timed ("flood: " ^ name) @@ fun () ->
  let join = in_domains domains ~tasks:5 n way.give in
  let left = ref n in
  let rec monadic () =
    if !left = 0 then Lwt.return_unit
    else begin
      decr left;
      let* v = way.take_lwt () in
      note name ledger v;
      monadic ()
    end
  and direct () =
    while !left > 0 do
      decr left;
      note name ledger (way.take ())
    done
  in
  Concord_lwt.run (fun () ->
      Lwt.join
        (List.concat
           (List.init 5 (fun _ ->
                [
                  monadic (); Concord_lwt.direct direct; Lwt_direct.spawn direct;
                ]))));
  join ();
  check name ledger;
  at_rest name way;
  Printf.sprintf "%d values" n

(* --- Lwt.cancel against resuming ------------------------------------------- *)

let tasks = 20
let cancelled = ref 0

(* [attempt random f] is the result of [f ()], or [None] if it was cancelled, at some moment
   while others resume it. When it is cancelled, it must have its value at once, or fail. A
   [chain] is an exception. If its first promise had its value, the next one isn't affected. *)
let attempt ~chain random f =
  let p = f () in
  let rec pause n =
    if n = 0 then Lwt.return_unit
    else Lwt.bind (Lwt.pause ()) (fun () -> pause (n - 1))
  in
  let* () = pause (Random.State.int random 3) in
  for _ = 1 to Random.State.int random 500 do
    Domain.cpu_relax ()
  done;
  let cancel = Random.State.int random 4 > 0 in
  if cancel then Lwt.cancel p;
  let must_fail = cancel && Lwt.is_sleeping p && not chain in
  Lwt.try_bind
    (fun () -> p)
    (fun v ->
      if must_fail then fail "it continues after it was cancelled";
      Lwt.return (Some v))
    (function
      | Lwt.Canceled ->
          incr cancelled;
          Lwt.return None
      | e -> Lwt.fail e)

let rec insist ?(chain = false) random f =
  let* v = attempt ~chain random f in
  match v with Some v -> Lwt.return v | None -> insist ~chain random f

(* [tasks] tasks of Lwt, which call [f] [n] times in all. *)
let in_lwt n f =
  let next = ref 0 in
  let rec work random =
    let i = !next in
    if i = n then Lwt.return_unit
    else begin
      incr next;
      let* () = f random i in
      work random
    end
  in
  Concord_lwt.run (fun () ->
      Lwt.join (List.init tasks (fun i -> work (random (1000 + i)))))

let storm_of name n f =
  cancelled := 0;
  timed ("storm: " ^ name) @@ fun () ->
  f ();
  if !cancelled = 0 then fail "%s: nothing was cancelled" name;
  Printf.sprintf "%d values, %d cancelled" n !cancelled

(* Only a waiting task can be cancelled, and if both sides are equally fast, hardly any task
   waits. So every second time, the domains first spin until a task waits, and then let it wait
   for a varying time. *)
let when_awaited way i =
  let pause = Hashtbl.hash i mod 1_000 in
  let rec look times =
    if times > 0 then begin
      Domain.cpu_relax ();
      look (if way.waiters () > 0 then min times pause - 1 else times - 1)
    end
  in
  if i land 1 = 0 then look 2_000

let taking (name, make) =
  let n = storm in
  storm_of (name ^ ", taking") n @@ fun () ->
  let way = make () and ledger = ledger n in
  let join =
    in_domains 2 ~tasks:1 n (fun i ->
        when_awaited way i;
        way.give i)
  in
  in_lwt n (fun random _ ->
      Lwt.map (note name ledger) (insist random way.take_lwt));
  join ();
  check name ledger;
  at_rest name way

(* If the promise of a value that is given is cancelled, the value comes once or not at all. *)
let giving (name, make) =
  let n = storm in
  storm_of (name ^ ", giving") n @@ fun () ->
  let way = make () and ledger = ledger n in
  let given = Array.make n false and last = -1 in
  let rec take_all i =
    when_awaited way i;
    let v = way.take () in
    if v <> last then begin
      note name ledger v;
      take_all (i + 1)
    end
  in
  let takers =
    List.init 2 (fun _ ->
        Domain.spawn (fun () -> Concord_fifo.run (fun () -> take_all 0)))
  in
  in_lwt n (fun random i ->
      let+ outcome = attempt ~chain:false random (fun () -> way.give_lwt i) in
      given.(i) <- Option.is_some outcome);
  List.iter (fun _ -> way.give last) takers;
  List.iter Domain.join takers;
  while not (way.is_empty ()) do
    note name ledger (way.take ())
  done;
  Array.iteri
    (fun v given ->
      if given && not (Atomic.get ledger.(v)) then fail "%s: %d was lost" name v)
    given;
  at_rest name way

(* A lock is always given back, and only one task holds it at a time. *)
let locking ?chain name ~hold ~hold_lwt ~is_free =
  let n = storm in
  storm_of name n @@ fun () ->
  let inside = Atomic.make 0 and count = ref 0 in
  let enter () =
    if Atomic.fetch_and_add inside 1 <> 0 then fail "%s: two inside" name;
    incr count
  and leave () = Atomic.decr inside in
  let join =
    in_domains 2 ~tasks:1 n (fun i ->
        hold (fun () ->
            enter ();
            if i land 7 = 0 then Concord_fifo.yield ();
            leave ()))
  in
  in_lwt n (fun random i ->
      insist ?chain random (fun () ->
          hold_lwt (fun () ->
              enter ();
              (* The task may be cancelled there, after it has counted. *)
              Lwt.finalize
                (fun () ->
                  if i land 7 = 0 then Lwt.pause () else Lwt.return_unit)
                (fun () ->
                  leave ();
                  Lwt.return_unit))));
  join ();
  if Atomic.get inside <> 0 then fail "%s: one stays inside" name;
  if !count < 2 * n then fail "%s: %d of %d" name !count (2 * n);
  if not (is_free ()) then fail "%s: it is held at rest" name

let mutex () =
  let m = Mutex.create () in
  locking "mutex" ~hold:(Mutex.protect m)
    ~hold_lwt:(fun f -> Concord_lwt.Mutex.with_lock m f)
    ~is_free:(fun () -> Mutex.try_lock m && Mutex.waiters m = 0)

let rwlock () =
  let l = Rwlock.create () in
  locking "rwlock" ~hold:(Rwlock.write l)
    ~hold_lwt:(fun f -> Concord_lwt.Rwlock.write l f)
    ~is_free:(fun () -> Rwlock.try_write_lock l && Rwlock.waiters l = 0)

let semaphore () =
  let s = Semaphore.Counting.make 1 in
  let release () = Semaphore.Counting.release s in
  locking "semaphore" ~chain:true
    ~hold:(fun f ->
      Semaphore.Counting.acquire s;
      Fun.protect ~finally:release f)
    ~hold_lwt:(fun f ->
      let* () = Concord_lwt.Semaphore.Counting.acquire s in
      Lwt.finalize f (fun () ->
          release ();
          Lwt.return_unit))
    ~is_free:(fun () ->
      Semaphore.Counting.get_value s = 1 && Semaphore.Counting.waiters s = 0)

let () =
  watchdog ~seconds:(if long then 3_600. else 90.);
  let through storm = List.map (fun way () -> storm way) ways in
  List.iter
    (fun storm -> storm ())
    (drawn
       (List.concat
          [
            through flood_through;
            through taking;
            through giving;
            [ mutex; rwlock; semaphore ];
          ]))
