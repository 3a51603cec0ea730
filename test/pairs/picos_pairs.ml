(* The programs of doc/picos.mld. The page shows those that are named [theirs], [ours] or
   [together], and test/doc compares the texts. *)

open Picos_std_structured
open Picos_std_sync

let theirs () =
  Picos_mux_fifo.run @@ fun () ->
  let answer = Ivar.create () in
  Flock.join_after @@ fun () ->
  Flock.fork (fun () -> Ivar.fill answer 42);
  Ivar.read answer

let promise_theirs = theirs

open Concord

let ours () =
  Concord_fifo.run @@ fun () ->
  let answer = Promise.create () in
  Scope.run @@ fun scope ->
  Scope.fork scope (fun () -> Promise.fill answer 42);
  Promise.await answer

let promise_ours = ours

let theirs () =
  Picos_mux_fifo.run @@ fun () ->
  let open Picos_std_event in
  let open Picos_std_sync in
  let news = Ivar.create () and stop = Ivar.create () in
  Flock.join_after @@ fun () ->
  Flock.fork (fun () -> Ivar.fill stop ());
  Event.select
    [
      Event.wrap (Ivar.read_evt news) (fun text -> "news: " ^ text);
      Event.wrap (Ivar.read_evt stop) (fun () -> "stopped");
    ]

let choice_theirs = theirs

let ours () =
  Concord_fifo.run @@ fun () ->
  let news = Promise.create () and stop = Promise.create () in
  Scope.run @@ fun scope ->
  Scope.fork scope (fun () -> Promise.fill stop ());
  Event.select
    [
      Event.wrap (Promise.await_evt news) (fun text -> "news: " ^ text);
      Event.wrap (Promise.await_evt stop) (fun () -> "stopped");
    ]

let choice_ours = ours

let theirs () =
  let open Picos_std_sync in
  let mutex = Mutex.create () and total = ref 0 in
  let add () =
    for _ = 1 to 100 do
      Mutex.protect mutex (fun () -> incr total)
    done
  in
  Picos_mux_fifo.run (fun () -> Run.all [ add; add ]);
  !total

let lock_theirs = theirs

let ours () =
  let mutex = Mutex.create () and total = ref 0 in
  let add () =
    for _ = 1 to 100 do
      Mutex.protect mutex (fun () -> incr total)
    done
  in
  let thread = Thread.create add () in
  Concord_fifo.run (fun () -> ignore (Tasks.all [ add; add ] : unit list));
  Thread.join thread;
  !total

let lock_ours = ours

let together () =
  let numbers = Mvar.create_empty () in
  let put () =
    Mvar.put numbers 20;
    Mvar.put numbers 22
  in
  let domain = Domain.spawn (fun () -> Eio_main.run (fun _ -> put ())) in
  let first, second =
    Picos_mux_fifo.run (fun () ->
        let first = Mvar.take numbers in
        (first, Mvar.take numbers))
  in
  Domain.join domain;
  first + second

let in_ours = together

let together () =
  Picos_io_select.configure ();
  let open Picos_std_sync in
  let answer = Ivar.create () in
  let fill () = Picos_mux_fifo.run (fun () -> Ivar.fill answer 42) in
  let domain = Domain.spawn fill in
  let v =
    Eio_main.run @@ fun _ -> Concord_picos.as_fiber (fun () -> Ivar.read answer)
  in
  Domain.join domain;
  v

let in_theirs = together

let together () =
  Eio_main.run @@ fun _ ->
  let box = Mvar.create_empty () in
  Concord_picos.using @@ fun () ->
  Picos_mux_fifo.run @@ fun () ->
  Flock.join_after @@ fun () ->
  Flock.fork (fun () -> Mvar.put box 42);
  Mvar.take box

let inside = together

let check name theirs ours expected_theirs expected_ours =
  if theirs () <> expected_theirs then failwith ("theirs: " ^ name);
  if ours () <> expected_ours then failwith ("ours: " ^ name);
  print_endline (name ^ ": both work")

let check_together name together =
  if together () <> 42 then failwith name;
  print_endline (name ^ ": it works")

(* The first program configures Picos. An alarm ends a program that hangs. *)
let run () =
  ignore (Unix.alarm 60 : int);
  check_together "an Eio fiber in a structure of Picos" in_theirs;
  check "a promise" promise_theirs promise_ours 42 42;
  check "a choice" choice_theirs choice_ours "stopped" "stopped";
  check "a lock" lock_theirs lock_ours 200 300;
  check_together "a fiber of Picos in a structure of Concord" in_ours;
  check_together "Picos inside Eio" inside
