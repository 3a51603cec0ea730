(* Operations where there is no scheduler. *)

open Concord
open Concord_test_support
open Check

let ints what = Alcotest.(check (list int)) what
let sum = ref 0

let nonblocking t =
  ignore (Stream.try_add t 1 : bool);
  ignore (Stream.try_take t : int option);
  ignore (Event.poll (Stream.add_evt t 2) : unit option);
  List.iter (fun v -> sum := !sum + v) (Stream.drain t);
  ignore (Stream.take_nonblocking t : int option)

let in_a_finaliser () =
  sum := 0;
  let t = Stream.create 2 in
  for _ = 1 to 100 do
    Gc.finalise (fun _ -> nonblocking t) (ref 0)
  done;
  Gc.full_major ();
  Gc.full_major ();
  int "every finaliser ran" 200 !sum

(* Handlers run between any two steps of the operations that they interrupt. *)
let in_a_signal_handler () =
  let t = Stream.create 3 and ticks = ref 0 and sound = ref true in
  let added = ref 0 and taken = ref 0 in
  (* A handler may run between the operation and the increment, so it has its own counts. *)
  let add count = if Stream.try_add t 1 then incr count
  and take count = if Option.is_some (Stream.try_take t) then incr count
  and added' = ref 0
  and taken' = ref 0 in
  let handler _ =
    incr ticks;
    if !ticks land 1 = 0 then add added' else take taken'
  in
  let before = Sys.signal Sys.sigalrm (Signal_handle handler) in
  let interval it_interval = Unix.{ it_interval; it_value = it_interval } in
  let set seconds =
    ignore
      (Unix.setitimer ITIMER_REAL (interval seconds)
        : Unix.interval_timer_status)
  in
  set 0.0002;
  let deadline = Unix.gettimeofday () +. 20. in
  while !ticks < 300 && Unix.gettimeofday () < deadline do
    add added;
    if !added land 3 = 0 then add added;
    if Stream.length t > 3 then sound := false;
    take taken
  done;
  set 0.;
  Sys.set_signal Sys.sigalrm before;
  yes "it was interrupted" (!ticks >= 300 && !taken > 0);
  yes "never more than the capacity" !sound;
  int "what is left"
    (!added + !added' - !taken - !taken')
    (List.length (Stream.drain t))

let between_plain_threads () =
  let t = Stream.create 1 in
  let taken =
    let result = ref [] in
    beside
      (fun () -> List.iter (Stream.add t) [ 1; 2; 3; 4 ])
      (fun () ->
        for _ = 1 to 4 do
          result := Stream.take t :: !result
        done;
        List.rev !result)
  in
  ints "items" [ 1; 2; 3; 4 ] taken

let () =
  run "Stream: anywhere"
    [
      ( "anywhere",
        [
          test "in a finaliser" in_a_finaliser;
          test "in a signal handler" in_a_signal_handler;
          test "between threads" between_plain_threads;
        ] );
    ]
