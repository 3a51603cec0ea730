(* Concord_lwt.with_domain and call, while a signal handler raises in the calling thread. *)

open Concord_test_support
open Check
open Lwt.Syntax

exception Tick

(* If an exception comes too late for one wait, it is raised in the thread's next wait. *)
let rec raise_kept () =
  match Concord.Tasks.sleep 0.000_001 with
  | () -> ()
  | exception Tick -> raise_kept ()

(* Calls [f ()] again and again. In each call a handler may raise once, in the calling thread.
   Then it calls [check]. *)
let interrupted f check =
  let this = Thread.id (Thread.self ()) in
  let armed = ref false and count = ref 0 in
  let in_thread () =
    !armed
    && Thread.id (Thread.self ()) = this
    && begin
      armed := false;
      true
    end
  in
  let once () =
    match
      armed := true;
      f ();
      armed := false
    with
    | () -> ()
    | exception Tick -> incr count
  in
  let until = Unix.gettimeofday () +. 2. in
  while Unix.gettimeofday () < until do
    raise_kept ();
    Interrupting.others ~by:Tick ~in_thread once;
    check ()
  done;
  raise_kept ();
  yes "it was interrupted" (!count > 0)

(* A value that was made is closed before the call raises. *)
let domain () =
  let is_open = Atomic.make false in
  let create () =
    let+ () = Lwt.pause () in
    Atomic.set is_open true
  and close () =
    let+ () = Lwt.pause () in
    Atomic.set is_open false
  in
  interrupted
    (fun () -> Concord_lwt.with_domain ~close create ignore)
    (fun () -> no "it is open" (Atomic.get is_open))

(* A called function has ended before the call raises. *)
let calls () =
  let running = Atomic.make 0 in
  let ended () =
    Atomic.decr running;
    Lwt.return_unit
  in
  let job () =
    Atomic.incr running;
    Lwt.finalize (fun () -> Lwt_unix.sleep 0.001) ended
  in
  Concord_lwt.with_domain (fun () -> Lwt.return_unit) @@ fun loop ->
  interrupted
    (fun () -> Concord_lwt.call loop job)
    (fun () -> int "running" 0 (Atomic.get running))

let () =
  Check.run "Lwt: a loop on a domain, and signal handlers"
    [
      ( "a handler raises in the caller of",
        List.concat_map Interrupting.only
          [ test "with_domain" domain; test "call" calls ] );
    ]
