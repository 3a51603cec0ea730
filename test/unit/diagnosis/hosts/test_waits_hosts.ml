open Concord
open Concord.Tools
open Concord_test_support
open Check
open Kept

let eio =
  {
    name = "eio";
    run =
      (fun body ->
        Eio_main.run @@ fun _ ->
        Eio.Switch.run @@ fun sw ->
        body { fork = (fun f -> Eio.Fiber.fork ~sw f); pause = Eio.Fiber.yield });
  }

let pause () = Unix.sleepf 0.001
let with_pool f = Concord_domainslib.with_pool ~name:"workers" ~num_domains:2 f
let submit pool f = ignore (Concord_domainslib.submit pool f : unit Promise.t)

let jobs =
  {
    name = "domainslib";
    run =
      (fun body -> with_pool (fun pool -> body { fork = submit pool; pause }));
  }

(* Tasks that are not jobs of ours. *)
let pool_tasks =
  {
    name = "domainslib";
    run =
      (fun body ->
        with_pool (fun pool ->
            let fork f =
              submit pool (fun () ->
                  ignore
                    (Domainslib.Task.async pool f
                      : unit Domainslib.Task.promise))
            in
            body { fork; pause }));
  }

(* In direct style, and the observer too. *)
let lwt run =
  {
    name = "lwt";
    run =
      (fun body ->
        run (fun () ->
            Concord_lwt.direct (fun () ->
                let fork f = Lwt.async (fun () -> Concord_lwt.direct f) in
                body { fork; pause = Tasks.yield })));
  }

let lwt_direct =
  {
    name = "lwt";
    run =
      (fun body ->
        Lwt_main.run
          (Lwt_direct.spawn (fun () ->
               body
                 {
                   fork = Lwt_direct.spawn_in_the_background;
                   pause = Lwt_direct.yield;
                 })));
  }

let names_of_tasks () =
  let names = ref [] in
  let seen ~is_it host =
    host.run (fun tasks ->
        let mvar = Mvar.create_empty () and ended = Promise.create () in
        let name = named mvar in
        tasks.fork (fun () ->
            Mvar.take mvar;
            Promise.fill ended ());
        let wait = the_one tasks name in
        names := wait.task.name :: !names;
        yes ("its name: " ^ wait.task.name) (is_it wait.task.name);
        Mvar.put mvar ();
        until tasks "it has ended" (fun () -> Promise.is_resolved ended))
  in
  seen eio ~is_it:(String.starts_with ~prefix:"fiber ");
  seen jobs ~is_it:(fun name ->
      String.starts_with ~prefix:"job " name
      && String.ends_with ~suffix:" of pool workers" name);
  seen pool_tasks ~is_it:(String.equal "a task");
  seen
    (lwt (fun f -> Lwt_main.run (f ())))
    ~is_it:(String.starts_with ~prefix:"task ");
  seen lwt_direct ~is_it:(String.equal "a task");
  int "five" 5 (List.length !names)

(* The porter of a pool waits for jobs. *)
let idle_pool () =
  with_pool (fun pool ->
      Promise.await (Concord_domainslib.submit pool ignore);
      int "nobody waits" 0 (List.length (waits ())))

let in_eio body =
  Eio_main.run @@ fun _ ->
  Eio.Switch.run @@ fun sw -> body sw

(* In a switch of their own, which is then turned off. *)
let cancellable_fork contexts sw f =
  Eio.Fiber.fork ~sw (fun () ->
      try
        Eio.Cancel.sub (fun context ->
            contexts := context :: !contexts;
            f ())
      with Eio.Cancel.Cancelled _ -> ())

let cancel_one contexts = Eio.Cancel.cancel (List.hd !contexts) Exit

let locks_of_fibers () =
  in_eio (fun sw ->
      let contexts = ref [] in
      let fork f = cancellable_fork contexts sw f in
      two_locks fork fork ~hosts:[ "eio"; "eio" ]
        { fork = ignore; pause = Eio.Fiber.yield };
      cancel_one contexts);
  int "nobody waits" 0 (List.length (waits ()));
  int "no cycle" 0 (List.length (cycles ()))

let locks_of_eio_and_pool () =
  with_pool (fun pool ->
      in_eio (fun sw ->
          let contexts = ref [] in
          two_locks
            (fun f -> cancellable_fork contexts sw f)
            (submit pool) ~hosts:[ "eio"; "domainslib" ]
            { fork = ignore; pause = Eio.Fiber.yield };
          cancel_one contexts));
  int "nobody waits" 0 (List.length (waits ()))

let cancelled_fiber () =
  let mvar = Mvar.create_empty () in
  let name = named mvar in
  in_eio (fun sw ->
      let contexts = ref [] in
      let ended = ref false in
      cancellable_fork contexts sw (fun () ->
          Fun.protect
            (fun () -> Mvar.take mvar)
            ~finally:(fun () -> ended := true));
      let tasks = { fork = ignore; pause = Eio.Fiber.yield } in
      ignore (the_one tasks name : Debug.wait);
      cancel_one contexts;
      until tasks "it was cancelled" (fun () -> !ended);
      int "it is not listed" 0 (List.length (waits_in name)))

(* A loop of Eio in a task of Fifo: its fibers are its own. *)
let eio_in_fifo () =
  Concord_fifo.run (fun () ->
      in_eio (fun sw ->
          let a = Mvar.create_empty () and b = Mvar.create_empty () in
          let in_a = named a and in_b = named b in
          Eio.Fiber.fork ~sw (fun () -> Mvar.take a);
          Eio.Fiber.fork ~sw (fun () -> Mvar.take b);
          let tasks = { fork = ignore; pause = Eio.Fiber.yield } in
          let one = the_one tasks in_a and other = the_one tasks in_b in
          Alcotest.(check string) "host" "eio" one.task.host;
          no "two fibers" (one.task.name = other.task.name);
          Mvar.put a ();
          Mvar.put b ()))

(* The two of one thread do not lock their mutex twice. *)
let two_of_one_loop host () =
  host.run (fun tasks ->
      let mutex = Mutex.create () and left = Latch.create 2 in
      let in_mutex () =
        Mutex.protect mutex (fun () -> Concord.Tasks.yield ());
        Latch.count_down left
      in
      tasks.fork in_mutex;
      tasks.fork in_mutex;
      until tasks "both have ended" (fun () -> Latch.is_open left))

let operations_of_lwt () =
  let mvar = Mvar.create_empty () in
  let name = named mvar in
  Lwt_main.run
    (let first = Concord_lwt.Mvar.take mvar in
     let second = Concord_lwt.Mvar.take mvar in
     int "two wait" 2 (List.length (waits_in name));
     List.iter
       (fun (wait : Debug.wait) ->
         Alcotest.(check string) "host" "lwt" wait.task.host;
         Alcotest.(check string) "name" "an operation" wait.task.name;
         strings "operation" [ "Mvar.take" ] (operations wait);
         yes "frames" (contains (frames wait) "operations_of_lwt"))
       (waits_in name);
     Lwt.cancel second;
     int "one was cancelled" 1 (List.length (waits_in name));
     Mvar.put mvar ();
     Lwt.bind first (fun () ->
         int "none" 0 (List.length (waits_in name));
         Lwt.return_unit))

let () =
  run "waits, other hosts"
    [
      cases eio;
      ("jobs", snd (cases jobs));
      ("tasks of a pool", List.tl (List.rev (snd (cases pool_tasks))));
      ("Lwt", snd (cases (lwt (fun f -> Lwt_main.run (f ())))));
      ("Concord_lwt.run", snd (cases (lwt Concord_lwt.run)));
      ("Lwt_direct", List.tl (List.rev (snd (cases lwt_direct))));
      ( "which task",
        [
          test "names" names_of_tasks;
          test "a pool that has nothing to do" idle_pool;
          test "Eio in a task of Fifo" eio_in_fifo;
          test "two tasks of a pool" (two_of_one_loop pool_tasks);
          test "two tasks of Lwt_direct" (two_of_one_loop lwt_direct);
        ] );
      ("over", [ test "a cancelled fiber" cancelled_fiber ]);
      ("promises of Lwt", [ test "operations" operations_of_lwt ]);
      ( "two locks",
        [
          test "two fibers" locks_of_fibers;
          test "Eio and a pool" locks_of_eio_and_pool;
        ] );
    ]
