open Case

(* Each implementation has its own copy of the loops, so that none is slower for
   calling its mutex through a closure. *)

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
      [
        row ~case ~impl:"concord" ~host:"fifo" (Time (free_concord Host.fifo));
        row ~case ~impl:"concord" ~host:"eio" (Time (free_concord Host.eio));
        row ~case ~impl:"lwt" ~host:"lwt" (Time free_lwt);
        row ~case ~impl:"stdlib" ~host:"domain" (Time free_stdlib);
        go case;
        picos case elsewhere;
      ];
  }

(* On one domain a mutex is contended only if its holder is suspended. *)

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
      [
        row ~case ~impl:"concord" ~host:"fifo"
          (Crowd (tasks, contended_concord Host.fifo ~yield:Concord_fifo.yield));
        row ~case ~impl:"concord" ~host:"eio"
          (Crowd (tasks, contended_concord Host.eio ~yield:Eio.Fiber.yield));
        row ~case ~impl:"lwt" ~host:"lwt" (Crowd (tasks, contended_lwt));
        go_crowd case ~tasks;
        picos case (crowd_elsewhere tasks);
      ];
  }

(* Between two domains *)

let both_concord host n =
  Host.both host (lock_unlock_concord (Concord.Mutex.create ())) n

let both_eio n = Host.both Host.eio (lock_unlock_eio (Eio.Mutex.create ())) n

let both_stdlib n =
  Host.both Host.domain (lock_unlock_stdlib (Mutex.create ())) n

let parallel =
  let case = "mutex-parallel" in
  {
    title =
      "locking and unlocking one mutex in a loop, by one task on each of 2 \
       domains";
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time both_eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo" (Time (both_concord Host.fifo));
        row ~case ~impl:"concord" ~host:"eio" (Time (both_concord Host.eio));
        row ~case ~impl:"stdlib" ~host:"domain" (Time both_stdlib);
        go case;
        picos case elsewhere;
      ];
  }

let comparisons =
  [
    free;
    contended ~case:"mutex-contended" ~tasks:10;
    contended ~case:"mutex-contended-100000" ~tasks:100_000;
    parallel;
  ]
