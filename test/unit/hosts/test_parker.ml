(* [Parker]'s own source, compiled over mutexes and condition variables that call hooks
   where signal handlers can run. *)

open Concord_test_support
open Check
open Watched

exception Interrupted

let released_before () =
  let t = Parker.create () in
  Parker.release t;
  Parker.release t;
  Parker.await t

let released_by_others () =
  let t = Parker.create () in
  beside
    (fun () -> in_domain (fun () -> Parker.release t))
    (fun () -> Parker.await t)

(* [release] takes no mutex if the thread is awake. So a test of the mutex needs a sleeping
   thread, or has to take the mutex itself. *)

let pass_mutex () =
  let { Parker.common; _ } = Domain.DLS.get Parker.of_domain in
  Stdlib.Mutex.protect common ignore

let sleeper f =
  let sleeps = Atomic.make false in
  once before_sleeping (fun () -> Atomic.set sleeps true);
  let join = thread f in
  eventually "it sleeps" (fun () -> Atomic.get sleeps);
  (* Once this thread has the mutex, the sleeper has released it. *)
  pass_mutex ();
  join

(* --- Handlers on top of a thread that is about to sleep ----------------------- *)

let releases_itself () =
  let t = Parker.create () in
  once before_sleeping (fun () -> Parker.release t);
  Parker.await t;
  Parker.await t

let releases_another () =
  let t = Parker.create () and other = Parker.create () in
  let sleeps_again = Atomic.make false and released = Atomic.make false in
  let other_thread () =
    Parker.await other;
    eventually "it sleeps again" (fun () -> Atomic.get sleeps_again);
    Atomic.set released true;
    Parker.release t
  in
  let join = sleeper other_thread in
  once before_sleeping (fun () ->
      Parker.release other;
      once before_sleeping (fun () -> Atomic.set sleeps_again true));
  Parker.await t;
  yes "not before it is released" (Atomic.get released);
  join ()

let waits_itself () =
  let t = Parker.create () and within = Parker.create () in
  let join = ref ignore in
  once before_sleeping (fun () ->
      join :=
        thread (fun () ->
            Parker.release t;
            Parker.release within);
      Parker.await within);
  Parker.await t;
  !join ()

let raises_there () =
  let t = Parker.create () in
  once before_sleeping (fun () -> raise Interrupted);
  raises "await" Interrupted (fun () -> Parker.await t);
  (* The interrupted wait must have left nothing locked. *)
  in_thread (fun () -> Parker.release t);
  Parker.await t

let raises_after_release () =
  let t = Parker.create () in
  once before_sleeping (fun () ->
      Parker.release t;
      raise Interrupted);
  raises "await" Interrupted (fun () -> Parker.await t);
  in_thread pass_mutex

(* The handler's [Sys_error] must not be mistaken for one of the mutex. *)
let raises_sys_error () =
  let t = Parker.create () in
  once before_sleeping (fun () -> raise (Sys_error "mine"));
  raises "await" (Sys_error "mine") (fun () -> Parker.await t);
  in_thread (fun () -> Parker.release t)

(* Handlers interrupt two domains at once, and each releases the other one. *)
let release_each_other () =
  let both = Atomic.make 0 in
  let a = Parker.create () in
  let b = Atomic.make None in
  let meet () =
    Atomic.incr both;
    while Atomic.get both < 2 do
      Domain.cpu_relax ()
    done
  in
  let domain = Domain.self () in
  Atomic.set before_sleeping (fun () ->
      if Atomic.get both < 2 then begin
        meet ();
        if Domain.self () = domain then
          Parker.release (Option.get (Atomic.get b))
        else Parker.release a
      end);
  let other =
    Domain.spawn (fun () ->
        let t = Parker.create () in
        Atomic.set b (Some t);
        Parker.await t)
  in
  Parker.await a;
  Domain.join other;
  Atomic.set before_sleeping nothing

(* --- A handler that raises in [release] ---------------------------------------- *)

let raises_in_release () =
  let t = Parker.create () in
  let join = sleeper (fun () -> Parker.await t) in
  once before_blocking (fun () -> raise Interrupted);
  raises "release" Interrupted (fun () -> Parker.release t);
  join ()

(* --- Many threads --------------------------------------------------------------- *)

let wakes_one () =
  let n = 50 in
  let asleep = Atomic.make 0 in
  Atomic.set before_sleeping (fun () -> Atomic.incr asleep);
  let parkers = List.init n (fun _ -> Atomic.make None) in
  let wait place =
    thread (fun () ->
        let t = Parker.create () in
        Atomic.set place (Some t);
        Parker.await t)
  in
  let threads = List.map wait parkers in
  eventually "all sleep" (fun () -> Atomic.get asleep = n);
  Atomic.set wakings 0;
  List.iteri
    (fun i place ->
      Parker.release (Option.get (Atomic.get place));
      eventually "it is woken" (fun () -> Atomic.get wakings > i);
      int "and no other" (i + 1) (Atomic.get wakings))
    parkers;
  List.iter (fun join -> join ()) threads;
  Atomic.set before_sleeping nothing

(* --- Processes -------------------------------------------------------------------- *)

(* Forks while another thread holds the mutex. The parker is released in both processes. *)
let forks () =
  let t = Parker.create () in
  let has_it = Atomic.make false and go_on = Atomic.make false in
  once before_sleeping (fun () ->
      Atomic.set has_it true;
      eventually "the child has ended" (fun () -> Atomic.get go_on));
  let join = thread (fun () -> Parker.await t) in
  eventually "it has the mutex" (fun () -> Atomic.get has_it);
  (match Unix.fork () with
  | 0 ->
      ignore (Unix.alarm 10 : int);
      Parker.release t;
      for _ = 1 to 2 do
        let t = Parker.create () in
        ignore (Thread.create Parker.release t : Thread.t);
        Parker.await t
      done;
      Unix._exit 0
  | child ->
      yes "the child ends by itself" (snd (Unix.waitpid [] child) = WEXITED 0));
  Atomic.set go_on true;
  Parker.release t;
  join ()

(* The handler forks in a thread that is about to sleep and holds the mutex. That thread
   continues in the child too. *)
let handler_forks ~in_child () =
  let t = Parker.create () in
  let child = ref 0 in
  once before_sleeping (fun () ->
      child := Unix.fork ();
      if !child = 0 then begin
        ignore (Unix.alarm 10 : int);
        ignore (Thread.create Parker.release t : Thread.t);
        in_child ()
      end
      else Parker.release t);
  (try Parker.await t with Interrupted -> Parker.await t);
  if !child = 0 then Unix._exit 0
  else yes "the child ends by itself" (snd (Unix.waitpid [] !child) = WEXITED 0)

(* A collection in the child must not destroy a condition variable on which a thread of the
   parent waits, because that would block forever. *)
let waits_while_it_forks () =
  let t = Parker.create () in
  let join = sleeper (fun () -> Parker.await t) in
  match Unix.fork () with
  | 0 ->
      ignore (Unix.alarm 10 : int);
      Gc.full_major ();
      Unix._exit 0
  | child ->
      yes "the child ends" (snd (Unix.waitpid [] child) = Unix.WEXITED 0);
      Parker.release t;
      join ()

let () =
  run "Parker"
    [
      (* These come first, because OCaml can't fork after a domain was spawned. *)
      ( "processes",
        [
          test "a child can wait" forks;
          test "a handler forks, and the thread continues in both"
            (handler_forks ~in_child:ignore);
          test "a handler forks, and raises in the child"
            (handler_forks ~in_child:(fun () -> raise Interrupted));
          test "a child, while a thread of the parent waits"
            waits_while_it_forks;
        ] );
      ( "releasing",
        [
          test "before: does not wait" released_before;
          test "from a thread of another domain" released_by_others;
          test "wakes one thread of 50" wakes_one;
        ] );
      ( "a handler in a thread that is about to sleep",
        [
          test "releases it" releases_itself;
          test "releases another one" releases_another;
          test "waits" waits_itself;
          test "raises" raises_there;
          test "releases it, and raises" raises_after_release;
          test "raises Sys_error" raises_sys_error;
          test "in two domains, each releases the other" release_each_other;
        ] );
      ( "a handler in a thread that releases",
        [ test "raises: it is released" raises_in_release ] );
    ]
