(* The order of the four policies, and how their scheduler behaves when a task is cancelled,
   fails or is interrupted. The suite for hosts (test/testkit) tests the rules for every host. *)

open Concord
open Concord_test_support
open Check

let forked say scope name =
  Scope.fork scope (fun () ->
      say name;
      Tasks.yield ();
      say (name ^ " again"))

let three say =
  Scope.run (fun scope ->
      List.iter (forked say scope) [ "a"; "b"; "c" ];
      say "body")

let fifo () =
  traced [ "body"; "a"; "b"; "c"; "a again"; "b again"; "c again" ] (fun say ->
      Concord_policies.Fifo.run (fun () -> three say))

(* Tasks that yield come last, in their order. *)
let lifo () =
  traced [ "body"; "c"; "b"; "a"; "c again"; "b again"; "a again" ] (fun say ->
      Concord_policies.Lifo.run (fun () -> three say))

let lifo_resumed () =
  traced [ "put"; "taken"; "b" ] @@ fun say ->
  Concord_policies.Lifo.run @@ fun () ->
  Scope.run @@ fun scope ->
  let box = Mvar.create_empty () in
  Scope.fork scope (fun () ->
      Mvar.take box;
      say "taken");
  Tasks.yield ();
  Scope.fork scope (fun () -> say "b");
  Mvar.put box ();
  say "put"

let levels () =
  let open Concord_policies.Levels in
  traced [ "1"; "0 again"; "1 again"; "2"; "2 again" ] @@ fun say ->
  run @@ fun () ->
  Scope.run @@ fun scope ->
  let fork level =
    let name = string_of_int level in
    with_priority level (fun () -> forked say scope name)
  in
  with_priority 1 @@ fun () ->
  fork 2;
  fork 1;
  Tasks.yield ();
  say "0 again"

let deadline () =
  let open Concord_policies.Deadline in
  traced [ "first"; "second"; "second too"; "whenever" ] @@ fun say ->
  run @@ fun () ->
  Scope.run @@ fun scope ->
  let fork name = Scope.fork scope (fun () -> say name) in
  fork "whenever";
  with_priority 2. (fun () -> fork "second");
  with_priority 1. (fun () -> fork "first");
  with_priority 2. (fun () -> fork "second too")

let refuses name f =
  match f () with
  | () -> Alcotest.failf "%s is not refused" name
  | exception Invalid_argument text ->
      yes text (contains text name && contains text "nan")

let no_deadline () =
  let open Concord_policies.Deadline in
  refuses "Deadline.run" (fun () -> run ~priority:nan ignore);
  run (fun () ->
      refuses "Deadline.with_priority" (fun () -> with_priority nan ignore);
      List.iter
        (fun time -> with_priority time ignore)
        [ neg_infinity; -0.; 0.; infinity ])

(* A scheduler of one's own may use the policy. *)
let nan_is_last () =
  let module Own = Concord_policies.Make (Concord_policies.Policy.Deadline) in
  traced [ "1"; "inf"; "inf"; "nan"; "nan" ] @@ fun say ->
  Own.run @@ fun () ->
  Scope.run @@ fun scope ->
  let fork time =
    Own.with_priority time (fun () ->
        Scope.fork scope (fun () -> say (Printf.sprintf "%g" time)))
  in
  List.iter fork [ nan; infinity; 1.; nan; infinity ]

(* If tasks are forked in depth, few are alive at once. *)
let most_alive run n =
  let alive = ref 0 and most = ref 0 in
  let rec fib n =
    incr alive;
    most := max !most !alive;
    let value =
      if n < 2 then n
      else
        let a, b = Tasks.both (fun () -> fib (n - 1)) (fun () -> fib (n - 2)) in
        a + b
    in
    decr alive;
    value
  in
  int "fib" 987 (run (fun () -> fib n));
  !most

let depth () =
  let lifo = most_alive (fun f -> Concord_policies.Lifo.run f) 16
  and fifo = most_alive (fun f -> Concord_policies.Fifo.run f) 16 in
  if lifo > 32 then Alcotest.failf "Lifo keeps %d tasks" lifo;
  if fifo < 100 then Alcotest.failf "Fifo keeps %d tasks only" fifo

let priority_is_given_back () =
  let open Concord_policies.Levels in
  traced [ "3"; "1" ] @@ fun say ->
  run ~priority:2 @@ fun () ->
  Scope.run @@ fun scope ->
  let fork name = Scope.fork scope (fun () -> say name) in
  (try with_priority 3 (fun () -> raise Exit) with Exit -> ());
  with_priority 3 (fun () -> fork "1");
  fork "3"

let outside_of_tasks () =
  raises "no task"
    (Invalid_argument
       "Concord_policies.with_priority: called outside of the tasks of this \
        scheduler (Levels)") (fun () ->
      Concord_policies.Levels.with_priority 1 ignore);
  raises "another one's task"
    (Invalid_argument
       "Concord_policies.with_priority: called outside of the tasks of this \
        scheduler (Levels)") (fun () ->
      Concord_fifo.run (fun () ->
          Concord_policies.Levels.with_priority 1 ignore))

let fork_from_outside () =
  let outside =
    Invalid_argument "Scope.fork: the calling task is outside of the scope"
  in
  let open Concord_policies.Fifo in
  run @@ fun () ->
  Scope.run (fun around ->
      Scope.run (fun inner ->
          Scope.fork around (fun () ->
              raises "in no task of it" outside (fun () ->
                  Scope.fork inner ignore));
          (* Waits until that task has ended. *)
          let seen = Promise.create () in
          Scope.fork around (Promise.fill seen);
          Promise.await seen));
  Scope.run (fun scope ->
      raises "in a thread" outside (fun () ->
          in_thread (fun () -> Scope.fork scope ignore)))

let what_main_raises (module S : Concord_policies.S) () =
  raises_at "what_main_raises" (fun () -> S.run (fun () -> raise Exit));
  raises "in a scope" Exit (fun () ->
      S.run (fun () ->
          Scope.run (fun scope ->
              Scope.fork scope (fun () -> raise Exit);
              Event.sync Event.never)))

(* A scope in [protect] can be cancelled, but the scope around it can't reach inside. *)
let cancelled_in_protect () =
  Concord_policies.Fifo.run @@ fun () ->
  let never () = Event.sync Event.never in
  yes "its own timeout"
    (Tasks.protect (fun () -> Tasks.with_timeout 0.001 never) = None);
  let ended = ref false in
  let outer =
    Tasks.with_timeout 0.001 (fun () ->
        Tasks.protect (fun () ->
            yes "the inner one" (Tasks.with_timeout 0.002 never = None);
            Tasks.sleep 0.001;
            ended := true);
        never ())
  in
  yes "the outer one" (outer = None);
  yes "protected" !ended

let cancelled_by_its_host () =
  traced [ "task"; "main"; "protected"; "host" ] @@ fun say ->
  Concord_fifo.run @@ fun () ->
  let waits = Promise.create ()
  and unwound = Promise.create ()
  and go = Promise.create () in
  let main () =
    Scope.run @@ fun scope ->
    Scope.fork scope (fun () ->
        try Event.sync Event.never
        with Concord_policies.Cancelled as e ->
          yes "a cancellation" (Tasks.is_cancellation e);
          say "task";
          Promise.fill unwound ();
          raise e);
    Scope.fork scope (fun () ->
        Tasks.protect (fun () ->
            let wait () =
              Promise.fill waits ();
              Promise.await go
            in
            (* The first function runs in its own task. *)
            ignore (Tasks.both wait ignore : unit * unit);
            say "protected"));
    try Event.sync Event.never
    with Concord_policies.Cancelled as e ->
      Tasks.protect (fun () ->
          Promise.await go;
          say "main");
      raise e
  in
  let task =
    Concord_fifo.fork (fun () ->
        try Concord_policies.Fifo.run main
        with Concord_fifo.Cancelled -> say "host")
  in
  Promise.await waits;
  Concord_fifo.cancel task;
  Promise.await unwound;
  Promise.fill go ();
  Concord_fifo.join task

(* Each task waits for the next one. *)
let deep () =
  let rec chain n =
    if n = 0 then 0
    else
      let one () =
        Tasks.yield ();
        1
      in
      let a, b = Tasks.both (fun () -> chain (n - 1)) one in
      a + b
  in
  int "sum" 2_000 (Concord_policies.Lifo.run (fun () -> chain 2_000))

(* A scope that is used for a long time doesn't keep the tasks that have ended. *)
let forgets () =
  Concord_policies.Fifo.run @@ fun () ->
  Scope.run @@ fun scope ->
  let fork_and_end n =
    for _ = 1 to n do
      Scope.fork scope ignore;
      Tasks.yield ()
    done;
    words scope
  in
  let few = fork_and_end 100 in
  let many = fork_and_end 10_000 in
  if many > 2 * few then Alcotest.failf "%d words, and then %d" few many

(* --- Signal handlers --------------------------------------------------------------- *)

exception Interrupted

(* [run] ends, whatever the signal interrupts. *)
let interrupted (module S : Concord_policies.S) () =
  let count = ref 0 and returned = ref 0 in
  let main () =
    let box = Mvar.create_empty () in
    let write () =
      for i = 1 to 20 do
        Mvar.put box i
      done
    and read () =
      for _ = 1 to 20 do
        ignore (Mvar.take box : int);
        Tasks.yield ()
      done
    in
    Tasks.iter (fun f -> f ()) [ write; read; Tasks.yield ]
  in
  let attempt () =
    match S.run main with
    | () -> incr returned
    | exception Interrupted -> incr count
    | exception Fun.Finally_raised Interrupted -> incr count
  in
  let began = Unix.gettimeofday () in
  let limit () = if !count > 0 && !returned > 0 then 0.5 else 20. in
  while Unix.gettimeofday () -. began < limit () do
    Interrupting.run ~by:Interrupted ~count attempt
  done;
  yes "interrupted" (!count > 0);
  yes "returned" (!returned > 0)

(* Threads run loops of schedulers at the same time, in one domain and in two. *)
let beside_one_another () =
  let box = Mvar.create_empty () in
  let write () =
    Concord_policies.Levels.run (fun () ->
        for i = 1 to 1_000 do
          Mvar.put box i
        done)
  and read () =
    Concord_policies.Deadline.run (fun () ->
        List.init 1_000 (fun _ -> Mvar.take box) |> List.fold_left ( + ) 0)
  in
  int "in threads" 500_500 (beside write read);
  let join = domain write in
  int "in domains" 500_500 (read ());
  join ()

let () =
  let each name case =
    let open Concord_policies in
    [
      test (name ^ ", Fifo") (case (module Fifo : S));
      test (name ^ ", Lifo") (case (module Lifo : S));
      test (name ^ ", Levels") (case (module Levels : S));
      test (name ^ ", Deadline") (case (module Deadline : S));
    ]
  in
  run "Policies"
    [
      ( "order",
        [
          test "Fifo" fifo;
          test "Lifo" lifo;
          test "Lifo, resumed" lifo_resumed;
          test "Levels" levels;
          test "Deadline" deadline;
          test "Deadline: not a number" no_deadline;
          test "its policy: not a number" nan_is_last;
          test "Lifo goes in depth" depth;
        ] );
      ( "priorities",
        [
          test "given back" priority_is_given_back;
          test "outside of tasks" outside_of_tasks;
        ] );
      ( "scopes",
        [
          test "fork from outside" fork_from_outside;
          test "cancelled by its host" cancelled_by_its_host;
          test "cancelled in protect" cancelled_in_protect;
          test "deep" deep;
          test "forgets" forgets;
        ]
        @ each "what main raises" what_main_raises );
      ( "threads and signals",
        test "beside one another" beside_one_another
        :: List.concat_map Interrupting.only (each "interrupted" interrupted) );
    ]
