(* The loop, its inbox and its sleep. Tasks wait for an Mvar, and other processes resume and
   cancel them. *)

open Actor
open Fifo_actor

type process = Host | Put of int | Cancel of int | Stop | Cancel_host

(* All [takers] tasks take from one box. The first [daemons] of them are daemons. *)
let check name ?(where = Other_domain) ?(is_lazy = false) ?(asleep = false)
    ?(daemons = 0) ?(looks = 0) ~takers processes expect =
  Model.check name ~expect @@ fun () ->
  let box = Mvar.create_empty () in
  let take i =
    ("take" ^ string_of_int (i + 1), fun () -> string_of_int (Mvar.take box))
  in
  let host, tasks, actors =
    scheduler where ~is_lazy ~daemons ~looks (List.init takers take)
  in
  if asleep then run host;
  let root = Members.home (List.hd tasks) in
  let putters = ref [] in
  let process = function
    | Host -> fun () -> run host
    | Put v ->
        let a =
          make "put" @@ fun () ->
          Mvar.put box v;
          "ok"
        in
        putters := a :: !putters;
        fun () -> run a
    | Cancel i -> fun () -> Fifo.cancel (List.nth tasks i)
    | Stop -> fun () -> Cancel.scope root
    | Cancel_host -> fun () -> Model.cancel host.task
  in
  let processes = List.map process processes in
  let outcome () =
    let some_wait = count_waiting actors > 0 in
    if host.result = waiting <> some_wait then
      failwith ("the loop, at rest: " ^ describe (host :: actors));
    let content =
      match Atomic.get box with
      | Mvar.Held _ -> failwith "held at rest"
      | Empty _ -> "empty"
      | Full (v, _, _) ->
          if some_wait then
            failwith
              ("a task waits though the box is full: "
              ^ describe (host :: actors));
          "full " ^ string_of_int v
    in
    if Mvar.waiters box <> count_waiting actors + count_waiting !putters then
      failwith "a waiter was lost, or stays";
    describe (host :: actors) ^ " " ^ content
  in
  (processes, outcome)

let both name ?is_lazy ?asleep ?daemons ?looks ~takers processes expect =
  check name ?is_lazy ?asleep ?daemons ?looks ~takers processes expect;
  check (name ^ " (one domain)") ~where:Same_domain ?is_lazy ?asleep ?daemons
    ?looks ~takers processes expect

let () =
  both "the loop starts, put" ~takers:1 [ Host; Put 1 ]
    [ "loop=ended take1=1 empty" ];
  both "the loop sleeps, put, cancel" ~asleep:true ~takers:1 [ Put 1; Cancel 0 ]
    [ "loop=ended take1=1 empty"; "loop=ended take1=cancelled full 1" ];
  both "lazy: the loop sleeps, put, cancel" ~is_lazy:true ~asleep:true ~takers:1
    [ Put 1; Cancel 0 ]
    [ "loop=ended take1=1 empty"; "loop=ended take1=cancelled full 1" ];
  both "the loop sleeps, put, cancel one of two" ~asleep:true ~takers:2
    [ Put 1; Cancel 0 ]
    [
      "loop=ended take1=cancelled take2=1 empty";
      "loop=waits take1=1 take2=waits empty";
    ];
  both "the loop starts, cancel" ~takers:1 [ Host; Cancel 0 ]
    [ "loop=ended take1=cancelled empty" ];
  both "the loop sleeps, two puts for two" ~asleep:true ~takers:2
    [ Put 1; Put 2 ]
    [ "loop=ended take1=1 take2=2 empty"; "loop=ended take1=2 take2=1 empty" ];
  both "the loop sleeps, put, all are stopped" ~asleep:true ~takers:2
    [ Put 1; Stop ]
    [
      "loop=ended take1=1 take2=cancelled empty";
      "loop=ended take1=cancelled take2=1 empty";
      "loop=ended take1=cancelled take2=cancelled full 1";
    ];
  both "the loop sleeps, put, its host cancels it" ~asleep:true ~takers:1
    [ Put 1; Cancel_host ]
    [
      "loop=cancelled take1=1 empty";
      "loop=cancelled take1=cancelled full 1";
      "loop=ended take1=1 empty";
    ];
  let a_daemon is_lazy =
    let lazily = if is_lazy then ", lazily" else "" in
    both
      ("a daemon and a task, put, put" ^ lazily)
      ~is_lazy ~asleep:true ~daemons:1 ~takers:2 [ Put 1; Put 2 ]
      [
        "loop=ended take1=1 take2=2 empty";
        "loop=ended take1=2 take2=1 empty";
        (* The task has its value, and ends before the daemon gets the other value. *)
        "loop=ended take1=cancelled take2=1 full 2";
        "loop=ended take1=cancelled take2=2 full 1";
      ];
    both
      ("a daemon and a task, put, cancel the task" ^ lazily)
      ~is_lazy ~asleep:true ~daemons:1 ~takers:2 [ Put 1; Cancel 1 ]
      [
        "loop=ended take1=1 take2=cancelled empty";
        "loop=ended take1=cancelled take2=cancelled full 1";
      ]
  in
  a_daemon false;
  a_daemon true;
  both "the loop spins, put" ~looks:1 ~takers:1 [ Host; Put 1 ]
    [ "loop=ended take1=1 empty" ];
  both "the loop spins, cancel" ~looks:1 ~takers:1 [ Host; Cancel 0 ]
    [ "loop=ended take1=cancelled empty" ];
  both "the loop spins, put for one of two" ~looks:1 ~takers:2 [ Host; Put 1 ]
    [ "loop=waits take1=1 take2=waits empty" ];
  check "the loop spins, put, cancel" ~looks:1 ~takers:1
    [ Host; Put 1; Cancel 0 ]
    [ "loop=ended take1=1 empty"; "loop=ended take1=cancelled full 1" ];
  check "lazy: the loop spins, put, cancel (one domain)" ~where:Same_domain
    ~is_lazy:true ~looks:1 ~takers:1 [ Host; Put 1; Cancel 0 ]
    [ "loop=ended take1=1 empty"; "loop=ended take1=cancelled full 1" ];
  Model.finish ()
