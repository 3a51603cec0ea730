(* Blocking calls, in threads of a pool. *)

open Concord
open Concord_test_support
open Check

exception Boom

(* --- Hosts ------------------------------------------------------------------- *)

let fifo f = Concord_fifo.run f
let eio f = Eio_main.run (fun _ -> f ())
let lwt f = Concord_lwt.run (fun () -> Concord_lwt.direct f)

let job f =
  Workers.with_workers ~domains:1 (fun workers -> Workers.run workers f)

let hosts =
  [
    ("a thread", fun f -> f ());
    ("a domain", in_domain);
    ("Concord_fifo", fifo);
    ("Eio", eio);
    ("Concord_lwt.direct", lwt);
    ("Workers", job);
  ]

let on_hosts case =
  List.map (fun (name, host) -> test name (fun () -> host case)) hosts

(* A gate that blocks threads. *)
type gate = {
  mutex : Stdlib.Mutex.t;
  changed : Stdlib.Condition.t;
  mutable is_open : bool;
  inside : int Atomic.t;
}

let gate () =
  {
    mutex = Stdlib.Mutex.create ();
    changed = Stdlib.Condition.create ();
    is_open = false;
    inside = Atomic.make 0;
  }

let pass gate =
  Atomic.incr gate.inside;
  Stdlib.Mutex.protect gate.mutex @@ fun () ->
  while not gate.is_open do
    Stdlib.Condition.wait gate.changed gate.mutex
  done

let open_ gate =
  Stdlib.Mutex.protect gate.mutex @@ fun () ->
  gate.is_open <- true;
  Stdlib.Condition.broadcast gate.changed

let until what condition = eventually ~pause:Tasks.yield what condition
let until_inside gate n = until "inside" (fun () -> Atomic.get gate.inside >= n)

(* --- Cases --------------------------------------------------------------------- *)

let[@inline never] culprit () = if true then raise Boom

let results () =
  int "the value" 42 (Blocking.run (fun () -> 42));
  raises "the exception" Boom (fun () -> Blocking.run culprit);
  int "a promise" 7 (Promise.await (Blocking.submit (fun () -> 7)));
  raises "a promise that fails" Boom (fun () ->
      Promise.await (Blocking.submit culprit));
  no "another thread"
    (Blocking.run (fun () -> Thread.id (Thread.self ()))
    = Thread.id (Thread.self ()));
  yes "all of many"
    (Tasks.map (fun i -> Blocking.run (fun () -> i * i)) (List.init 200 Fun.id)
    = List.init 200 (fun i -> i * i))

(* The call ends only if another task of the host runs meanwhile. *)
let others_run () =
  let gate = gate () in
  ignore
    (Tasks.both
       (fun () -> Blocking.run (fun () -> pass gate))
       (fun () ->
         until_inside gate 1;
         open_ gate)
      : unit * unit)

let limit () =
  let pool = Blocking.create ~threads:2 () and gate = gate () in
  let order = ref [] in
  Tasks.iter
    (fun i ->
      if i = 5 then begin
        until_inside gate 2;
        until "the others wait" (fun () -> Blocking.waiting pool = 3);
        int "threads" 2 (Blocking.threads pool);
        int "inside" 2 (Atomic.get gate.inside);
        open_ gate
      end
      else
        Blocking.run ~pool (fun () ->
            pass gate;
            i)
        |> fun i -> order := i :: !order)
    [ 0; 1; 2; 3; 4; 5 ];
  int "none waits" 0 (Blocking.waiting pool);
  yes "all have ended" (List.sort compare !order = [ 0; 1; 2; 3; 4 ]);
  int "threads" 2 (Blocking.threads pool)

let in_order () =
  let pool = Blocking.create ~threads:1 () and gate = gate () in
  let order = ref [] in
  let first = Blocking.submit ~pool (fun () -> pass gate) in
  let rest =
    List.init 20 (fun i ->
        Blocking.submit ~pool (fun () -> order := i :: !order))
  in
  open_ gate;
  List.iter Promise.await (first :: rest);
  yes "in the order of the calls" (List.rev !order = List.init 20 Fun.id)

(* One task at a time takes and gives back the same thread. *)
let reused () =
  let pool = Blocking.create () in
  let ids =
    List.init 20 (fun _ ->
        Blocking.run ~pool (fun () -> Thread.id (Thread.self ())))
  in
  int "one thread" 1 (List.length (List.sort_uniq compare ids));
  int "in the pool" 1 (Blocking.threads pool)

let begins_never () =
  let pool = Blocking.create ~threads:1 () and gate = gate () in
  let called = Atomic.make false in
  let first = Blocking.submit ~pool (fun () -> pass gate) in
  until_inside gate 1;
  let result =
    Tasks.with_timeout 0.001 (fun () ->
        Blocking.run ~pool (fun () -> Atomic.set called true))
  in
  yes "it is cancelled" (result = None);
  open_ gate;
  Promise.await first;
  Blocking.run ~pool ignore;
  no "it was never called" (Atomic.get called)

let abandoned () =
  let pool = Blocking.create ~threads:1 () and gate = gate () in
  let dropped = Atomic.make [] in
  let drop v = Atomic.set dropped (v :: Atomic.get dropped) in
  let call () =
    Blocking.run ~pool ~drop (fun () ->
        pass gate;
        5)
  in
  let cancelled =
    Tasks.first
      (fun () -> Some (call ()))
      (fun () ->
        until_inside gate 1;
        None)
  in
  yes "the caller continues at once" (cancelled = None);
  yes "not yet" (Atomic.get dropped = []);
  int "it counts for the limit" 1 (Blocking.threads pool);
  let next = Blocking.submit ~pool ignore in
  int "the next call waits" 1 (Blocking.waiting pool);
  open_ gate;
  Promise.await next;
  yes "dropped once" (Atomic.get dropped = [ 5 ])

let protected () =
  let gate = gate () and ended = ref false in
  let call () =
    Tasks.protect (fun () ->
        Blocking.run (fun () -> pass gate);
        ended := true);
    Tasks.yield ()
  in
  ignore
    (Tasks.first call (fun () ->
         until_inside gate 1;
         ignore (Thread.create open_ gate : Thread.t))
      : unit);
  yes "it has waited for the end" !ended

let failures_dropped () =
  let gate = gate () in
  let call () =
    Blocking.run (fun () ->
        pass gate;
        culprit ())
  in
  Tasks.first call (fun () -> until_inside gate 1);
  open_ gate;
  int "the thread goes on" 3 (Blocking.run (fun () -> 3))

let values () =
  let key = Local.create () in
  let get () = Local.get key in
  yes "none" (Blocking.run get = None);
  Local.with_binding key 1 (fun () ->
      yes "bound" (Blocking.run get = Some 1);
      yes "in a promise" (Promise.await (Blocking.submit get) = Some 1));
  yes "not left in the thread" (Blocking.run get = None)

(* --- Threads and domains ---------------------------------------------------------- *)

let idle_end () =
  let pool = Blocking.create () and gate = gate () in
  let calls =
    List.init 40 (fun _ -> Blocking.submit ~pool (fun () -> pass gate))
  in
  until_inside gate 40;
  int "a thread for each" 40 (Blocking.threads pool);
  open_ gate;
  List.iter Promise.await calls;
  until "some end" (fun () -> Blocking.threads pool = 16)

(* The idle threads of a domain end with it. *)
let domain_ends () =
  let pool = Blocking.create () in
  let id = Atomic.make 0 in
  in_domain (fun () ->
      int "called" 1 (Blocking.run ~pool (fun () -> 1));
      Atomic.set id (Blocking.run ~pool (fun () -> Thread.id (Thread.self ()))));
  int "no thread is left" 0 (Blocking.threads pool);
  int "another" 2 (Blocking.run ~pool (fun () -> 2))

let busy_domain_ends () =
  let pool = Blocking.create () and gate = gate () in
  let call = ref (Promise.of_value ()) in
  let domain =
    Domain.spawn (fun () ->
        call := Blocking.submit ~pool (fun () -> pass gate);
        until_inside gate 1)
  in
  until_inside gate 1;
  open_ gate;
  Domain.join domain;
  Promise.await !call;
  int "no thread is left" 0 (Blocking.threads pool)

let signals () =
  let blocked () = Thread.sigmask SIG_BLOCK [] in
  let here = blocked () in
  yes "blocked" (List.mem Sys.sigterm (Blocking.run blocked));
  let pool = Blocking.create () in
  yes "as the caller's" (Blocking.run ~pool ~signals:true blocked = here);
  yes "blocked again" (List.mem Sys.sigterm (Blocking.run ~pool blocked))

let wrong () =
  match Blocking.create ~threads:0 () with
  | (_ : Blocking.t) -> Alcotest.fail "no threads"
  | exception Invalid_argument text ->
      yes "it says what" (contains text "Blocking.create")

let named () =
  Tools.Debug.keep_waits ();
  let pool = Blocking.create ~name:"the database" () and gate = gate () in
  fifo (fun () ->
      ignore
        (Tasks.both
           (fun () -> Blocking.run ~pool (fun () -> pass gate))
           (fun () ->
             until_inside gate 1;
             let text = Tools.Debug.(to_string (report ())) in
             open_ gate;
             yes text (contains text "a blocking call of the database");
             yes text (contains text "thread"))
          : unit * unit))

(* --- A storm -------------------------------------------------------------------------- *)

(* Each call opens something. It is closed by the caller, or dropped, but never both or neither. *)
let storm () =
  let random = Race.random 0 in
  let pool = Blocking.create ~threads:3 () in
  let opened = Atomic.make 0 and closed = Atomic.make 0 in
  let close () = Atomic.incr closed in
  let call () =
    Blocking.run ~pool ~drop:close (fun () ->
        Atomic.incr opened;
        if Random.bool () then Thread.yield ())
  in
  let task _ =
    for _ = 1 to Race.often 20 do
      match Random.State.int random 3 with
      | 0 ->
          call ();
          close ()
      | 1 ->
          let seconds = Random.State.float random 1e-4 in
          if Option.is_some (Tasks.with_timeout seconds call) then close ()
      | _ ->
          Tasks.first
            (fun () ->
              call ();
              close ())
            Tasks.yield
    done
  in
  Tasks.iter task (List.init 10 Fun.id);
  (* The threads have ended the calls that were abandoned. *)
  let all = List.init 3 (fun _ -> Blocking.submit ~pool ignore) in
  List.iter Promise.await all;
  until "all are closed" (fun () -> Atomic.get closed = Atomic.get opened);
  int "none waits" 0 (Blocking.waiting pool)

(* --- No thread can be started ------------------------------------------------------ *)

(* Runs in a process of its own, in which no thread gets its stack. *)
let without_threads () =
  let pool = Blocking.create () in
  let fails f =
    match f () with
    | _ -> failwith "it started a thread"
    | exception Sys_error _ -> ()
  in
  fails (fun () -> Blocking.run ~pool ignore);
  fails (fun () -> ignore (Blocking.submit ~pool ignore : unit Promise.t));
  if Blocking.threads pool <> 0 then failwith "a thread is counted";
  if Blocking.waiting pool <> 0 then failwith "a call is left"

let no_threads = "no-threads"

let cannot_start () =
  let command =
    Printf.sprintf "ulimit -s 1000000000 2>/dev/null || exit 77; exec %s %s"
      (Filename.quote Sys.executable_name)
      no_threads
  in
  match Sys.command command with
  | 0 -> ()
  | 77 -> print_endline "skipped: the stack of a thread can't be so large"
  | code -> Alcotest.failf "the program ended with %d" code

let cases () =
  run "Blocking"
    [
      ("results", on_hosts results);
      ("other tasks run", on_hosts others_run);
      ("the limit", on_hosts limit);
      ("in order", on_hosts in_order);
      ("threads are used again", on_hosts reused);
      ("cancelled before it begins", on_hosts begins_never);
      ("cancelled while it runs", on_hosts abandoned);
      ("protected", on_hosts protected);
      ("failures after that", on_hosts failures_dropped);
      ("values", on_hosts values);
      ( "threads",
        [
          test "idle ones end" idle_end;
          test "of a domain that ends" domain_ends;
          test "of a domain that ends, busy" busy_domain_ends;
          test "signals" signals;
          test "no threads" wrong;
          test "none can be started" cannot_start;
        ] );
      ("a storm of cancellations", on_hosts storm);
      ("names", [ test "in reports" named ]);
    ]

let () =
  match Sys.argv with
  | [| _; word |] when word = no_threads -> without_threads ()
  | _ -> cases ()
