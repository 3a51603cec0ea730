(* A host has other work than the tasks that Concord resumes, for example its own timers and
   descriptors. A task that always continues at once must not keep the host from it, if the
   task gives other tasks a turn. *)

open Concord
open Concord_test_support
open Check

(* --- Tasks that are always ready --------------------------------------------- *)

(* Each goes on until [over ()], which it asks at each turn that it gives. *)

let compute seconds =
  let until = Unix.gettimeofday () +. seconds in
  while Unix.gettimeofday () < until do
    ()
  done

let yields over =
  while not (over ()) do
    Tasks.yield ()
  done

let computes over =
  while not (over ()) do
    compute 0.005;
    Tasks.yield ()
  done

(* [other] also waits for a message when [over ()], so it gets one more. *)
let exchanges ?(pause = ignore) () over =
  let there = Mvar.create_empty () and back = Mvar.create_empty () in
  let rec first () =
    pause ();
    let go_on = not (over ()) in
    Mvar.put there go_on;
    if go_on then begin
      Mvar.take back;
      first ()
    end
  in
  let rec second () =
    if Mvar.take there then begin
      Mvar.put back ();
      second ()
    end
  in
  ignore (Tasks.both first second : unit * unit)

let tasks_yield over =
  ignore
    (Tasks.both (fun () -> computes over) (fun () -> yields over) : unit * unit)

let busy =
  [
    ("a task yields", yields);
    ("a task computes and yields", computes);
    ("two tasks yield", tasks_yield);
    ("two tasks exchange messages", exchanges ());
    ( "two tasks compute and exchange messages",
      exchanges ~pause:(fun () -> compute 0.005) () );
  ]

(* --- The host's own work ------------------------------------------------------ *)

(* [run ~alarm main] runs [main] as a task of the host. Meanwhile, the host itself calls
   [alarm] in 20 ms. *)
type host = {
  name : string;
  run : alarm:(unit -> unit) -> (unit -> unit) -> unit;
}

let soon = 0.02

(* Without turns, the alarm comes only after [patience] or never, and a slow machine needs less
   for one turn. *)
let patience = 10.

let served host (what, busy) =
  test what @@ fun () ->
  let alarmed = ref false in
  let until = Unix.gettimeofday () +. patience in
  let over () = !alarmed || Unix.gettimeofday () > until in
  host.run
    ~alarm:(fun () -> alarmed := true)
    (fun () ->
      busy over;
      yes "the alarm came while the tasks were busy" !alarmed)

let on host = (host.name, List.map (served host) busy)

let within name run host =
  {
    name = name ^ " in " ^ host.name;
    run = (fun ~alarm main -> host.run ~alarm (fun () -> run main));
  }
