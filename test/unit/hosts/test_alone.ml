(* A program that has one thread and nothing else. A wait that nothing can end must raise.
   The program doesn't use the library's support for tests, because that has a thread of its
   own. If it hangs, an alarm ends it. *)

open Concord
open Concord.Tools

let check what condition =
  if not condition then begin
    Printf.eprintf "FAIL %s\n%!" what;
    exit 1
  end

(* While waits are kept, a mutex that its holder locks again raises [Sys_error] instead. *)
let is_debugged = Option.is_some (Sys.getenv_opt "CONCORD_DEBUG")

let is_told f =
  match f () with
  | _ -> false
  | exception Suspend.Never_resumed -> true
  | exception Sys_error _ -> is_debugged

let never () = Event.sync (Event.never : unit Event.t)

(* --- Waits that nothing can end ---- *)

let locks_twice () =
  let mutex = Mutex.create () in
  let told =
    Mutex.protect mutex (fun () -> is_told (fun () -> Mutex.lock mutex))
  in
  told && Mutex.try_lock mutex

let modifies_within () =
  let box = Mvar.create 1 in
  let told =
    is_told (fun () ->
        Mvar.modify box (fun n -> (n, Mvar.modify box (fun m -> (m, m)))))
  in
  told && Mvar.try_take box = Some 1

let waits_for_a_condition () =
  let mutex = Mutex.create () and changed = Condition.create () in
  Mutex.protect mutex (fun () ->
      is_told (fun () -> Condition.wait changed mutex) && Mutex.is_locked mutex)

let cases =
  [
    ("never", fun () -> is_told never);
    ("no alternative", fun () -> is_told (fun () -> Event.select []));
    ( "a promise",
      fun () -> is_told (fun () -> Promise.await (Promise.create ())) );
    ( "never, within a choice",
      fun () ->
        is_told (fun () ->
            Event.select [ Event.never; Mailbox.take_evt (Mailbox.create ()) ])
    );
    ("locked twice", locks_twice);
    ("modified within", modifies_within);
    ("a condition", waits_for_a_condition);
    ("protected", fun () -> is_told (fun () -> Suspend.protect never));
  ]

let on host run =
  List.iter (fun (what, case) -> check (host ^ ": " ^ what) (run case)) cases

(* --- Tasks of Fifo --- *)

(* One of the two tasks gets the exception and unlocks, so the other one gets its lock. *)
let circle () =
  let first = Mutex.create () and second = Mutex.create () in
  let told = ref 0 and done_ = ref 0 in
  let lock_both a b () =
    Mutex.protect a (fun () ->
        Concord_fifo.yield ();
        match Mutex.protect b ignore with
        | () -> incr done_
        | exception Suspend.Never_resumed -> incr told)
  in
  Concord_fifo.run (fun () ->
      ignore (Concord_fifo.fork (lock_both first second));
      ignore (Concord_fifo.fork (lock_both second first)));
  check "one of two tasks that wait for one another" (!told = 1 && !done_ = 1);
  check "both are free" (Mutex.try_lock first && Mutex.try_lock second)

let not_observed () =
  check "run raises it"
    (is_told (fun () ->
         Concord_fifo.run (fun () ->
             ignore (Concord_fifo.fork never);
             Concord_fifo.yield ())))

(* The task that was forked last gets the exception first. Tasks that wait for its end, or
   for something that it does then, must not get one. *)
let unwinding () =
  let released = Promise.create () in
  Concord_fifo.run (fun () ->
      let waiter =
        Concord_fifo.fork_promise (fun () -> Promise.await released)
      in
      let task =
        Concord_fifo.fork (fun () ->
            try never ()
            with Suspend.Never_resumed -> Promise.fill released ())
      in
      Concord_fifo.join task;
      Promise.await waiter)

let interrupted () =
  let cancelled_in_protect () =
    Concord_fifo.run (fun () ->
        let task = Concord_fifo.fork (fun () -> Suspend.protect never) in
        Concord_fifo.cancel task;
        Concord_fifo.join task)
  in
  check "cancelled, protected" (is_told cancelled_in_protect)

(* --- Waits that must not raise --- *)

let passes what f = check what (not (is_told f))

let in_time () =
  let sleep () = Event.sync (Event.timeout 0.01) in
  passes "a timeout" sleep;
  passes "a timeout of Fifo" (fun () -> Concord_fifo.run sleep);
  passes "a wait until" (fun () -> Event.sync_before 0.01 Event.never);
  passes "woken by a task" (fun () ->
      Concord_fifo.run (fun () ->
          let box = Mvar.create_empty () in
          ignore
            (Concord_fifo.fork (fun () ->
                 sleep ();
                 Mvar.put box ()));
          Mvar.take box));
  check "and then nothing is left" (is_told never)

(* Runs [f] in a process of its own, because the library remembers that there was once a
   thread or a handler. *)
let in_child what f =
  match Unix.fork () with
  | 0 -> Unix._exit (match f () with true -> 0 | false | (exception _) -> 1)
  | child -> check what (snd (Unix.waitpid [] child) = WEXITED 0)

let with_handler () =
  in_child "a signal is handled" (fun () ->
      Sys.set_signal Sys.sigusr1 (Sys.Signal_handle ignore);
      not (Concord__core__Others.is_alone ()))

let by_thread f () =
  match Promise.await (Promise.in_thread f) with
  | () -> true
  | exception Suspend.Never_resumed -> false

(* The parent has a thread for timers, but the child doesn't. *)
let after_fork () =
  in_child "a child, which is alone" (fun () -> is_told never);
  in_child "a thread of the child"
    (by_thread (fun () ->
         (* The main thread meanwhile checks whether it is alone. *)
         Unix.sleepf 0.05));
  in_child "a handler's wait, a thread of the child" (fun () ->
      let box = Mvar.create_empty () in
      let taken = ref false in
      let take (_ : int) = taken := Mvar.take box in
      Concord_fifo.run (fun () ->
          let fill () =
            Unix.sleepf 0.05;
            Mvar.put box true
          in
          let thread = Thread.create fill () in
          Sys.set_signal Sys.sigusr1 (Signal_handle take);
          Unix.kill (Unix.getpid ()) Sys.sigusr1;
          Thread.join thread);
      !taken)

(* The library starts a thread when the first domain is spawned. *)
let first_domain () =
  let spawn () = Domain.join (Domain.spawn (fun () -> Unix.sleepf 0.001)) in
  for _ = 1 to 100 do
    in_child "a thread that spawns the first domain" (by_thread spawn)
  done

let with_company () =
  check "alone until now" (Concord__core__Others.may_be_alone ());
  let box = Mvar.create_empty () in
  let thread = Thread.create (fun () -> Mvar.put box (Unix.sleepf 0.01)) () in
  passes "another thread" (fun () -> Mvar.take box);
  Thread.join thread;
  passes "another domain" (fun () ->
      let domain = Domain.spawn (fun () -> Mvar.put box ()) in
      Mvar.take box;
      Domain.join domain);
  check "no longer alone" (not (Concord__core__Others.may_be_alone ()))

let () =
  ignore (Unix.alarm 60 : int);
  if not Concord_test_proc.is_there then
    check "it is not known" (not (Concord__core__Others.is_alone ()));
  Concord_test_proc.program "a program that is alone" (fun () ->
      with_handler ();
      first_domain ();
      on "a thread" (fun case -> case ());
      on "Fifo" (fun case -> Concord_fifo.run case);
      on "Fifo, lazily" (fun case -> Concord_fifo.run ~cancellation:`Lazy case);
      on "Fifo in Fifo" (fun case ->
          Concord_fifo.run (fun () -> Concord_fifo.run case));
      on "a scope" (fun case -> fst (Tasks.both case ignore));
      on "a scope in a scope" (fun case ->
          Concord_fifo.run (fun () ->
              snd (Tasks.both ignore (fun () -> fst (Tasks.both case ignore)))));
      circle ();
      not_observed ();
      unwinding ();
      interrupted ();
      in_time ();
      on "a thread, after a timeout" (fun case -> case ());
      after_fork ();
      with_company ());
  print_endline "OK"
