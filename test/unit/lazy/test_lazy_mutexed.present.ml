(* OCaml 5.5's [Lazy.Mutexed] between tasks, beside [Concord.Lazy]. The page "A proposal:
   schedulers that handle Suspend" names what this shows. If OCaml changes, so should the page. *)

open Concord_test_support
open Check
module Lazy = Concord.Lazy
module Promise = Concord.Promise
module Mutexed = Stdlib.Lazy.Mutexed

(* Two tasks of one thread force the same value, whose computation lets the second one run. *)
let both_force make force =
  let value =
    make (fun () ->
        Concord.Tasks.yield ();
        42)
  in
  Concord_fifo.run (fun () ->
      Concord.Tasks.both (fun () -> force value) (fun () -> force value))

let one_thread () =
  let pair = Alcotest.(pair int int) in
  Alcotest.check pair "Concord.Lazy" (42, 42)
    (both_force Lazy.from_fun Lazy.force);
  match both_force Mutexed.from_fun Mutexed.force with
  | _ -> Alcotest.fail "Mutexed: the second task was not refused"
  | exception Sys_error _ -> ()

(* A task of the first domain computes the value, which takes until [release], and a task of the
   second domain forces it. The result says whether another task of the second domain ran
   meanwhile. If it [helps], it releases the first one. Otherwise this thread does, because with a
   mutex there would be a deadlock. *)
let two_domains ~helps make force =
  let begun = Promise.create () and release = Promise.create () in
  let asks = Atomic.make false and ran_before = ref false in
  let value =
    make (fun () ->
        Promise.fill begun ();
        Promise.await release;
        42)
  in
  let first () = Concord_fifo.run (fun () -> force value) in
  let second () =
    Concord_fifo.run @@ fun () ->
    let has_value = ref false in
    let force () =
      Promise.await begun;
      Atomic.set asks true;
      let v = force value in
      has_value := true;
      v
    and help () =
      (* It begins only while the other task waits for [value]. *)
      while not (Atomic.get asks) do
        Concord.Tasks.yield ()
      done;
      ran_before := not !has_value;
      if helps then Promise.fill release ()
    in
    fst (Concord.Tasks.both force help)
  in
  let first = Domain.spawn first in
  let second = Domain.spawn second in
  if not helps then begin
    eventually "the value is needed" (fun () -> Atomic.get asks);
    Promise.fill release ()
  end;
  int "the first domain" 42 (Domain.join first);
  int "the second domain" 42 (Domain.join second);
  !ran_before

let domains () =
  yes "Concord.Lazy suspends the task alone"
    (two_domains ~helps:true Lazy.from_fun Lazy.force);
  no "Mutexed blocks the other tasks of the domain"
    (two_domains ~helps:false Mutexed.from_fun Mutexed.force)

let () =
  run "Lazy: Stdlib's with a mutex"
    [
      ( "Lazy.Mutexed",
        [ test "tasks of one thread" one_thread; test "two domains" domains ] );
    ]
