(* Tasks of Miou and others that wait for each other, often or in large numbers. The table of hosts
   ([Every_host]) has each operation, its order and its cancellation; the matrix has the tasks of
   other hosts that wait for Miou's; [As_host] has H1 to H4 and backtraces. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

(* --- One domain -------------------------------------------------------------- *)

let many () =
  In_miou.run @@ fun () ->
  let gate = Promise.create () and through = ref 0 in
  let wait () =
    Promise.await gate;
    incr through
  in
  let tasks = List.init 5_000 (fun _ -> Miou.async wait) in
  In_miou.eventually "all wait" (fun () -> Promise.waiters gate = 5_000);
  Promise.fill gate ();
  List.iter Miou.await_exn tasks;
  int "through" 5_000 !through

(* --- Domains and threads -------------------------------------------------------- *)

let n = 500

let put box () =
  for i = 1 to n do
    Mvar.put box i
  done

let take box () =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + Mvar.take box
  done;
  int "sum" (n * (n + 1) / 2) !sum

let called f =
  let task = Miou.call f in
  fun () -> Miou.await_exn task

(* Joining a thread blocks the domain. *)
let meet start ours theirs =
  In_miou.run_on 2 @@ fun () ->
  let join = start theirs in
  ours ();
  join ()

let both_ways name start =
  let case what ours theirs =
    test what (fun () ->
        let box = Mvar.create_empty () in
        meet start (ours box) (theirs box))
  in
  let call f box () = called (f box) () in
  [
    case ("from " ^ name) take put;
    case ("to " ^ name) put take;
    case ("from " ^ name ^ ", in Miou.call") (call take) put;
    case ("to " ^ name ^ ", in Miou.call") (call put) take;
  ]

let between =
  both_ways "a task of another domain" called
  @ both_ways "a thread" thread
  @ both_ways "a domain" (fun f -> domain f)

(* Each domain has tasks, and all of them meet. *)
let crowd () =
  In_miou.run_on 2 @@ fun () ->
  let n = 30 and rounds = 20 in
  let barrier = Barrier.create n and total = Atomic.make 0 in
  let work () =
    for _ = 1 to rounds do
      Atomic.incr total;
      Barrier.await barrier
    done
  in
  let start i = if i mod 3 = 0 then Miou.async work else Miou.call work in
  List.iter Miou.await_exn (List.init n start);
  int "total" (n * rounds) (Atomic.get total)

(* A thread of the loop's own domain, while the loop sleeps or runs other tasks. *)
let threads_beside () =
  In_miou.run_on 1 @@ fun () ->
  let rounds () =
    for i = 1 to 200 do
      let p = Promise.create () in
      let join = thread (fun () -> Promise.fill p i) in
      int "value" i (Promise.await p);
      join ()
    done
  in
  let busy () =
    for _ = 1 to 10_000 do
      Miou.yield ()
    done
  in
  In_miou.all [ rounds; busy ];
  let tasks = [ Miou.call rounds; Miou.call busy ] in
  List.iter Miou.await_exn tasks

(* When a domain is spawned, Miou_unix forgets the tasks that wait for input. The last task
   spawns one and ends, so the loop has nothing else to do. *)
let domains_spawned () =
  In_miou.run_on 1 @@ fun () ->
  let rounds () =
    for i = 1 to 20 do
      let p = Promise.create () and spawned = ref ignore in
      let task =
        Miou.async (fun () ->
            spawned :=
              domain (fun () ->
                  eventually "it waits" (fun () -> Promise.waiters p = 1);
                  Thread.delay 0.001;
                  Promise.fill p i))
      in
      int "value" i (Promise.await p);
      Miou.await_exn task;
      !spawned ()
    done
  in
  rounds ();
  Miou.await_exn (Miou.call rounds)

(* The library uses these effects to find the computations on the task's stack. So two waits
   must not perform the same effect. *)
let effects () =
  In_miou.run @@ fun () ->
  let last f =
    let last = ref (Obj.repr ()) in
    let effc (type a) (e : a Effect.t) :
        ((a, _) Effect.Deep.continuation -> _) option =
      last := Obj.repr e;
      None
    in
    Effect.Deep.try_with f () { effc };
    !last
  in
  let waits block () = try Suspend.suspend block with Exit -> () in
  let value = waits (fun _ -> Some ()) in
  let failure = waits (fun _ -> raise Exit) in
  no "of values" (last value == last value);
  no "of exceptions" (last failure == last failure)

(* --- Signal handlers, finalisers -------------------------------------------------- *)

(* They interrupt the loop in any state. *)
let signal_handlers () =
  let signals = Mailbox.create () and n = 300 in
  let before =
    Sys.signal Sys.sigusr1 (Signal_handle (fun _ -> Mailbox.add signals ()))
  in
  Fun.protect ~finally:(fun () -> Sys.set_signal Sys.sigusr1 before)
  @@ fun () ->
  In_miou.run_on 0 @@ fun () ->
  let over = ref false in
  let take () =
    for _ = 1 to n do
      Unix.kill (Unix.getpid ()) Sys.sigusr1;
      Mailbox.take signals
    done;
    over := true
  and busy () =
    while not !over do
      Miou.yield ()
    done
  in
  In_miou.all [ take; busy ];
  In_miou.all [ take ]

let finalisers () =
  In_miou.run @@ fun () ->
  let collected = Mailbox.create () and n = 20 in
  let[@inline never] drop () =
    Gc.finalise (fun _ -> Mailbox.add collected ()) (ref 0)
  in
  for _ = 1 to n do
    drop ()
  done;
  let task =
    Miou.async (fun () ->
        for _ = 1 to n do
          Mailbox.take collected
        done)
  in
  In_miou.eventually "all were collected" (fun () ->
      Gc.full_major ();
      Miou.Promise.state task <> Running);
  Miou.await_exn task

let suites =
  [
    ( "in one domain",
      [ test "many" many; test "effects of a wait that ends at once" effects ]
    );
    ( "between domains and threads",
      between
      @ [
          test "tasks of all domains meet" crowd;
          test "threads of the same domain" threads_beside;
          test "beside domains that are spawned" domains_spawned;
        ] );
    ( "resumed by",
      [ test "signal handlers" signal_handlers; test "finalisers" finalisers ]
    );
  ]
