open Concord
open Operation_signature
open Operation_scene
open Operation_outcome

type spread = Together | Domains | Threads

(* --- Where the tasks run --------------------------------------------------------- *)

type host = {
  run : (unit -> unit) -> unit;
  fork : (unit -> unit) -> unit -> unit;
      (** Starts a task. The result cancels it, if that is possible. *)
  pause : unit -> unit;
  relax : unit -> unit;  (** Called in each round of the loop of releases. *)
  beside : (unit -> unit) -> unit -> unit;
      (** Runs the function in a task of [Concord_fifo]. The result waits for
          its end. *)
}

let fork_in_fifo f =
  let handle = Concord_fifo.fork f in
  fun () -> Concord_fifo.cancel handle

let together =
  {
    run = (fun f -> Concord_fifo.run f);
    fork = fork_in_fifo;
    pause = Concord_fifo.yield;
    relax = ignore;
    beside =
      (fun f ->
        let handle = Concord_fifo.fork f in
        fun () -> Concord_fifo.join handle);
  }

(* All rounds use one domain, because ending a domain with threads takes up to 50 ms. *)
let with_domain f =
  let jobs = Mailbox.create () in
  let rec work () =
    match Mailbox.take jobs with
    | job ->
        job ();
        work ()
    | exception Mailbox.Closed -> ()
  in
  let domain = Domain.spawn (fun () -> Concord_fifo.run work) in
  let beside f =
    let ended = Promise.create () in
    Mailbox.add jobs (fun () -> Fun.protect f ~finally:(Promise.fill ended));
    fun () -> Promise.await ended
  in
  Fun.protect
    ~finally:(fun () ->
      Mailbox.close jobs;
      Domain.join domain)
    (fun () -> f { together with relax = Domain.cpu_relax; beside })

let in_threads =
  let thread f = Thread.create f () in
  let pause () = Thread.delay 0.000_02 in
  {
    run = (fun f -> f ());
    fork =
      (fun f ->
        ignore (thread f : Thread.t);
        ignore);
    pause;
    relax = pause;
    beside =
      (fun f ->
        let thread = thread (fun () -> Concord_fifo.run f) in
        fun () -> Thread.join thread);
  }

(* --- One round -------------------------------------------------------------------- *)

type round = {
  scene : Operation_scene.t;
  delay : int;  (** Yields before the first release. *)
  going : int Atomic.t;  (** Tasks that have not ended. *)
  over : bool Atomic.t;  (** There are no more releases. *)
  beats : int Atomic.t;  (** How often the loop of releases has run. *)
  fault : exn option Atomic.t;  (** The exception of a task or a release. *)
}

let is_over r = Atomic.get r.over || Atomic.get r.going = 0

let noting r f =
  try f () with
  | Concord_fifo.Cancelled -> ()
  | e -> ignore (Atomic.compare_and_set r.fault None (Some e) : bool)

(* If the operation keeps a release for later tasks, the next release comes only after the
   previous one was used up. *)
let is_due s =
  (not s.keeps) || Atomic.get s.released = List.length (Atomic.get s.served)

let rec release_repeatedly r =
  if not (is_over r) then begin
    if is_due r.scene then release r.scene;
    Concord_fifo.yield ();
    release_repeatedly r
  end

let release_as_needed r =
  let s = r.scene in
  for _ = 1 to r.delay do
    Concord_fifo.yield ()
  done;
  if s.service = Meets || (s.keeps && not (one_by_one s)) then release s
  else release_repeatedly r

(* Waits for the end of the loop, because a release in progress counts only once it has
   ended. *)
let stop loop =
  Concord_fifo.cancel loop;
  Concord_fifo.join loop

(* Runs in a task of [Concord_fifo]. [stop] cancels the last release, which may wait for a
   task that never comes. *)
let releases host r () =
  let loop =
    Concord_fifo.fork (fun () -> noting r (fun () -> release_as_needed r))
  in
  while not (is_over r) do
    Atomic.incr r.beats;
    host.relax ();
    Concord_fifo.yield ()
  done;
  stop loop

let task r ~turns () =
  noting r (fun () ->
      for _ = 1 to turns do
        wait r.scene
      done);
  Atomic.decr r.going

(* In seconds. The tasks count as stuck if none has continued for so long. Both sides must have
   run [enough_turns] times meanwhile, because the system may run only one of them. *)
let stuck_after = 2.5
let enough_turns = 5_000

let all_have_ended host r =
  let progress () = List.length (Atomic.get r.scene.served) in
  let beats () = Atomic.get r.beats in
  let rec look seen since pauses beaten =
    if Atomic.get r.going > 0 && Atomic.get r.fault = None then begin
      host.pause ();
      let now = Unix.gettimeofday () and served = progress () in
      if served > seen then look served now 0 (beats ())
      else if
        now -. since > stuck_after
        && pauses > enough_turns
        && beats () - beaten > enough_turns
      then
        Trial.fail "%d tasks still wait, and no release lets them continue"
          (Atomic.get r.going)
      else look seen since (pauses + 1) beaten
    end
  in
  look (progress ()) (Unix.gettimeofday ()) 0 (beats ())

(* [Meets] has no cancellation, because a party that leaves keeps the others waiting. *)
let cancel_some random host r cancels =
  for _ = 1 to Random.State.int random (3 * Array.length cancels) do
    host.pause ();
    if r.scene.service <> Meets && Random.State.bool random then
      cancels.(Random.State.int random (Array.length cancels)) ()
  done

let round random operation host ways =
  let int n = Random.State.int random n in
  let tasks = 1 + int 10 and way = List.nth ways (int (List.length ways)) in
  let scene = create ~most:tasks operation way in
  let turns = if one_by_one scene then 1 + int 8 else 1 in
  let r =
    {
      scene;
      delay = int 5;
      going = Atomic.make tasks;
      over = Atomic.make false;
      beats = Atomic.make 0;
      fault = Atomic.make None;
    }
  in
  host.run (fun () ->
      let ended = host.beside (releases host r) in
      Fun.protect ~finally:(fun () ->
          Atomic.set r.over true;
          ended ())
      @@ fun () ->
      let cancels = Array.init tasks (fun _ -> host.fork (task r ~turns)) in
      cancel_some random host r cancels;
      all_have_ended host r);
  Option.iter raise (Atomic.get r.fault);
  conserved scene;
  bounded scene

(* --- Many rounds ------------------------------------------------------------------ *)

(* The rounds that are run even if the time is up, because a busy machine may run few. *)
let fewest = 20

let repeat ~seed ~seconds operation host =
  let random = Random.State.make [| seed |] and ways = ways operation in
  let deadline = Unix.gettimeofday () +. seconds in
  let rec go n =
    (try round random operation host ways
     with e -> Trial.fail "in round %d: %s" n (Operation_run.text e));
    Trial.alive ();
    if n < fewest || Unix.gettimeofday () < deadline then go (n + 1)
  in
  go 1

let run ~seed ~seconds operation spread =
  let repeat = repeat ~seed ~seconds operation in
  match spread with
  | Together -> repeat together
  | Domains -> with_domain repeat
  | Threads -> repeat in_threads
