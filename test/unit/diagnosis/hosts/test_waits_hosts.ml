open Concord
open Concord.Tools
open Concord_test_support
open Check
open Basic_hosts
open Kept

let eio = Eio_hosts.fibers
let jobs = Job_hosts.jobs
let pool_tasks = Job_hosts.tasks
let lwt = Lwt_hosts.(promises lwt_main)
let lwt_direct = Lwt_hosts.(lwt_direct lwt_main)

let names_of_tasks () =
  let names = ref [] in
  let seen ~is_it (host : Test_host.t) =
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
  seen lwt ~is_it:(String.starts_with ~prefix:"task ");
  seen lwt_direct ~is_it:(String.equal "a task");
  int "five" 5 (List.length !names)

(* The pool's porter, which waits for jobs, must not be listed. *)
let idle_pool () =
  Job_hosts.with_pool (fun pool ->
      Promise.await (Concord_domainslib.submit pool ignore);
      int "no task waits" 0 (List.length (waits ())))

(* Fibers of an Eio loop inside a task of Fifo are listed as Eio's. *)
let eio_in_fifo () =
  (Test_host.within ~outer:fifo eio).run (fun tasks ->
      let a = Mvar.create_empty () and b = Mvar.create_empty () in
      let in_a = named a and in_b = named b in
      tasks.fork (fun () -> Mvar.take a);
      tasks.fork (fun () -> Mvar.take b);
      let one = the_one tasks in_a and other = the_one tasks in_b in
      Alcotest.(check string) "host" "eio" one.task.host;
      no "two fibers" (one.task.name = other.task.name);
      Mvar.put a ();
      Mvar.put b ())

(* Two tasks on one thread lock a mutex. The second one must not be refused as if the thread
   had locked it twice. *)
let two_of_one_loop (host : Test_host.t) () =
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
      ("Lwt", snd (cases lwt));
      ("Concord_lwt.run", snd (cases (Lwt_hosts.promises Concord_lwt.run)));
      ("Lwt_direct", List.tl (List.rev (snd (cases lwt_direct))));
      ( "which task",
        [
          test "names" names_of_tasks;
          test "a pool that has nothing to do" idle_pool;
          test "Eio in a task of Fifo" eio_in_fifo;
          test "two tasks of a pool" (two_of_one_loop pool_tasks);
          test "two tasks of Lwt_direct" (two_of_one_loop lwt_direct);
        ] );
      ( "over",
        [
          test "a cancelled fiber" (cancelled eio);
          test "a cancelled task of Lwt" (cancelled lwt);
        ] );
      ("promises of Lwt", [ test "operations" operations_of_lwt ]);
      ( "two locks",
        [
          test "two fibers" (locks_of_tasks eio);
          test "Eio and a pool" (locks_of_two_hosts eio jobs);
        ] );
    ]
