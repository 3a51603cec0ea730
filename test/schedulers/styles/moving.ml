(* Sets that continue in another thread than the one that started them, and threads that are
   switched at any moment. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Decision = Host_kit.Decision

(* A host that continues each task in another place. *)
let elsewhere place f =
  let open Effect.Deep in
  let ended = Promise.create () in
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    match e with
    | Suspend.Suspend block ->
        Some
          (fun k ->
            let go_on = function
              | Ok v -> continue k v
              | Error e -> discontinue k e
            in
            let decision = Decision.create () in
            let resumer outcome =
              Decision.decide decision outcome
              && begin
                place (fun () -> go_on outcome);
                true
              end
            in
            let outcome = Decision.offer decision resumer block in
            if not (Decision.is_undecided outcome) then go_on outcome)
    | _ -> None
  in
  match_with f ()
    {
      retc = (fun () -> Promise.fill ended (Ok ()));
      exnc = (fun e -> Promise.fill ended (Error e));
      effc;
    };
  match Promise.await ended with Ok () -> () | Error e -> raise e

let by_thread f = ignore (Thread.create f () : Thread.t)
let by_domain f = ignore (Domain.spawn f : unit Domain.t)

module Make (S : Style.S) = struct
  open S

  let moves place () =
    let begun = Thread.id (Thread.self ()) and m = Mvar.create_empty () in
    let moved = ref false and sum = ref 0 in
    (* If a value comes while the set still spins, the set doesn't move. So the values come
       later and later. *)
    let rec fill pause n =
      if n > 0 then begin
        eventually
          ~pause:(fun () -> Thread.delay pause)
          "it waits"
          (fun () -> Mvar.waiters m = 1);
        Mvar.put m n;
        fill (4. *. pause) (n - 1)
      end
    in
    let join = thread (fun () -> fill 0.000_2 5) in
    let rec reader n () =
      if n = 0 then return ()
      else
        let* i = take m in
        sum := !sum + i;
        if Thread.id (Thread.self ()) <> begun then moved := true;
        let* () = yield () in
        let* () = direct Concord.Tasks.yield in
        (* This thread belongs to the same set. *)
        spawn (fun () ->
            incr sum;
            return ());
        reader (n - 1) ()
    in
    elsewhere place (fun () ->
        spawn (reader 5);
        start ();
        (* The next set works too. *)
        spawn (fun () ->
            let* () = yield () in
            incr sum;
            return ());
        start ());
    join ();
    yes "moved" (!moved || not is_light);
    int "sum" 21 !sum

  (* A signal handler switches the threads. *)
  let switched () =
    let seconds = 0.4 and wrong = Atomic.make 0 in
    let until = Unix.gettimeofday () +. seconds in
    let work () =
      while Unix.gettimeofday () < until do
        let ended = ref 0 in
        for _ = 1 to 3 do
          spawn (fun () ->
              let* () = yield () in
              incr ended;
              return ())
        done;
        start ();
        if !ended <> 3 then Atomic.incr wrong
      done
    in
    let before =
      Sys.signal Sys.sigalrm (Signal_handle (fun _ -> Thread.yield ()))
    in
    let every seconds =
      let timer = { Unix.it_interval = seconds; it_value = seconds } in
      ignore (Unix.setitimer ITIMER_REAL timer : Unix.interval_timer_status)
    in
    every 0.000_05;
    Fun.protect
      ~finally:(fun () ->
        every 0.;
        Sys.set_signal Sys.sigalrm before)
      (fun () ->
        let joins = List.init 3 (fun _ -> thread work) in
        List.iter (fun join -> join ()) joins);
    int "sets that are not complete" 0 (Atomic.get wrong)

  let cases =
    [
      test "start continues in another thread" (moves by_thread);
      test "start continues in another domain" (moves by_domain);
      test "sets of threads that are switched" switched;
    ]
end
