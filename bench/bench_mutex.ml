open Case

(* Each implementation has its own copy of the loops, because calling the mutex through a
   closure would slow it down. *)

let lock_unlock_concord mutex n =
  for _ = 1 to n do
    Concord.Mutex.lock mutex;
    Concord.Mutex.unlock mutex
  done

let lock_unlock_eio mutex n =
  for _ = 1 to n do
    Eio.Mutex.lock mutex;
    Eio.Mutex.unlock mutex
  done

let lock_unlock_stdlib mutex n =
  for _ = 1 to n do
    Mutex.lock mutex;
    Mutex.unlock mutex
  done

let free_concord host n =
  Host.alone host (lock_unlock_concord (Concord.Mutex.create ())) n

let free_eio n = Host.alone Host.eio (lock_unlock_eio (Eio.Mutex.create ())) n

let free_stdlib n =
  Host.alone Host.domain (lock_unlock_stdlib (Mutex.create ())) n

let free_lwt n =
  let mutex = Lwt_mutex.create () in
  let lock_unlock () =
    Lwt.map (fun () -> Lwt_mutex.unlock mutex) (Lwt_mutex.lock mutex)
  in
  let start = Meter.now () in
  Lwt_main.run (Host.lwt_times n lock_unlock);
  Meter.ns_since start

let free =
  let case = "mutex-free" in
  {
    title = "locking and unlocking a mutex that nobody else uses, 1 domain";
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time free_eio);
    others =
      Ours.rows ~case Ours.one_task free_concord
      @ [
          row ~case ~impl:"lwt" ~host:"lwt" (Time free_lwt);
          row ~case ~impl:"stdlib" ~host:"domain" (Time free_stdlib);
          go case;
          picos case elsewhere;
          tokio case;
        ];
  }

(* On one domain, a mutex is contended only if its holder is suspended. *)

let contended_concord host ~yield ~tasks n =
  let mutex = Concord.Mutex.create () in
  let rec work another =
    Concord.Mutex.lock mutex;
    let again = another () in
    if again then yield ();
    Concord.Mutex.unlock mutex;
    if again then work another
  in
  let hold () = Concord.Mutex.lock mutex in
  let free () = Concord.Mutex.unlock mutex in
  Host.crew host ~tasks ~hold ~free work n

let contended_eio ~tasks n =
  let mutex = Eio.Mutex.create () in
  let rec work another =
    Eio.Mutex.lock mutex;
    let again = another () in
    if again then Eio.Fiber.yield ();
    Eio.Mutex.unlock mutex;
    if again then work another
  in
  let hold () = Eio.Mutex.lock mutex in
  let free () = Eio.Mutex.unlock mutex in
  Host.crew Host.eio ~tasks ~hold ~free work n

let contended_stdlib ~tasks n =
  let mutex = Mutex.create () in
  let rec work another =
    Mutex.lock mutex;
    let again = another () in
    if again then Thread.yield ();
    Mutex.unlock mutex;
    if again then work another
  in
  let hold () = Mutex.lock mutex in
  let free () = Mutex.unlock mutex in
  Host.crew Host.thread ~tasks ~hold ~free work n

(* Threads are measured only with a small crew. *)
let contended_threads ~case ~tasks =
  [
    row ~case ~impl:"concord" ~host:"thread"
      (Crowd (tasks, contended_concord Host.thread ~yield:Thread.yield));
    row ~case ~impl:"stdlib" ~host:"thread" (Crowd (tasks, contended_stdlib));
  ]

let contended_lwt ~tasks n =
  let mutex = Lwt_mutex.create () in
  let open Lwt.Syntax in
  let rec work another =
    let* () = Lwt_mutex.lock mutex in
    let again = another () in
    let* () = if again then Lwt.pause () else Lwt.return_unit in
    Lwt_mutex.unlock mutex;
    if again then work another else Lwt.return_unit
  in
  let hold () = Lwt_mutex.lock mutex in
  let free () = Lwt_mutex.unlock mutex in
  Host.crew_lwt ~tasks ~hold ~free work n

let contended ~case ~tasks =
  {
    title =
      Printf.sprintf
        "locking, yielding and unlocking, by one of %d tasks of which the \
         others wait, 1 domain"
        tasks;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Crowd (tasks, contended_eio));
    others =
      ([
         row ~case ~impl:"concord" ~host:"fifo"
           (Crowd (tasks, contended_concord Host.fifo ~yield:Concord_fifo.yield));
         row ~case ~impl:"concord" ~host:"eio"
           (Crowd (tasks, contended_concord Host.eio ~yield:Eio.Fiber.yield));
         row ~case ~impl:"lwt" ~host:"lwt" (Crowd (tasks, contended_lwt));
         go_crowd case ~tasks;
         picos case (crowd_elsewhere tasks);
       ]
      @
      if tasks = 10 then contended_threads ~case ~tasks @ [ tokio case ] else []
      );
  }

(* --- Between two domains --------------------------------------------------

   Each side does some work while it has the mutex, and more work while it does not. With a loop of
   only locks and unlocks, the figure would mostly tell how often a side happens to sleep. *)

type counter = { mutable count : int }

let while_locked = 10
let between = 250

let work counter times =
  for _ = 1 to times do
    counter.count <- counter.count + 1
  done

let side lock unlock mutex shared n =
  let own = { count = 0 } in
  for _ = 1 to n do
    lock mutex;
    work shared while_locked;
    unlock mutex;
    work own between
  done

(* Counts the rounds of both sides, including those before the clock was read. *)
let check_work n { count } =
  let rounds = 2 * (Host.meeting + (n / 2)) in
  Host.check "work while locked" (while_locked * rounds) count

let working host side n =
  let shared = { count = 0 } in
  let ns = Host.both host (side shared) n in
  check_work n shared;
  ns

let both_concord host n =
  let mutex = Concord.Mutex.create () in
  working host (side Concord.Mutex.lock Concord.Mutex.unlock mutex) n

let both_eio n =
  let mutex = Eio.Mutex.create () in
  working Host.eio (side Eio.Mutex.lock Eio.Mutex.unlock mutex) n

let both_stdlib n =
  let mutex = Mutex.create () in
  working Host.domain (side Mutex.lock Mutex.unlock mutex) n

let parallel =
  let case = "mutex-work-parallel" in
  {
    title =
      Printf.sprintf
        "locking one mutex, %d increments of a shared counter, unlocking, and \
         %d of one's own, by one task on each of 2 domains"
        while_locked between;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time both_eio);
    others =
      Ours.rows ~case Ours.two_domains both_concord
      @ [
          row ~case ~impl:"stdlib" ~host:"domain" (Time both_stdlib);
          go case;
          picos case elsewhere;
          tokio case;
        ];
  }

let comparisons =
  beside [ free; contended ~case:"mutex-contended" ~tasks:10 ]
  @ [ contended ~case:"mutex-contended-100000" ~tasks:100_000; parallel ]
