(* A signal handler raises in the middle of operations. Whatever becomes of them, the descriptor
   can be closed afterwards: nobody uses it any more, and its number is given back. *)

open Concord
open Concord_test_support
open Check
module Aio = Concord_aio
module Fifo = Concord_fifo
module Owner = Concord_aio__Owner

let byte fd = ignore (Unix.write_substring fd "x" 0 1 : int)
let read fd = ignore (Aio.read fd (Bytes.create 1) 0 1 : int)

(* Another file may have the number by now. *)
let is_open fd file =
  match Unix.fstat fd with
  | { st_ino; st_dev; _ } -> (st_ino, st_dev) = file
  | exception Unix.Unix_error (EBADF, _, _) -> false

(* Another thread closes it: it would wait for a use that has no end. *)
let check_close round fd file =
  let closed = Atomic.make false in
  let close () =
    (try Aio.close fd with Unix.Unix_error (EBADF, _, _) -> ());
    Atomic.set closed true
  in
  let join = thread close in
  eventually (Printf.sprintf "closed, in round %d" round) (fun () ->
      Atomic.get closed);
  join ();
  no (Printf.sprintf "open, in round %d" round) (is_open fd file)

let with_pipe round f =
  let from, to_ = Unix.pipe ~cloexec:true () in
  let { Unix.st_ino; st_dev; _ } = Unix.fstat from in
  f from to_;
  check_close round from (st_ino, st_dev);
  Unix.close to_

(* --- At each moment --------------------------------------------------------- *)

(* Moments cannot be counted beyond a system call, in which the next signal comes before the
   call does. So these make none. *)
let at_each_moment ?second f () =
  let rec from n =
    with_pipe n (fun from _ ->
        let owner = Owner.find ~wait:ignore "test" from in
        let watcher = { Owner.forget = ignore } in
        ignore
          (Moments.at ?second n (fun () -> f owner watcher)
            : (unit, exn) result);
        (* a poller that was interrupted does it again *)
        Owner.unwatch owner watcher;
        Owner.leave owner);
    if Moments.was_raised () then from (n + 1) else n
  in
  yes "moments" (from 1 > 3)

let use owner _ = Owner.using "test" owner (fun () -> ignore (ref 0 : int ref))

let watch owner watcher =
  ignore (Owner.watch owner watcher : bool);
  (* as if it had been interrupted *)
  ignore (Owner.watch owner watcher : bool);
  Owner.unwatch owner watcher

(* --- At some time or other -------------------------------------------------- *)

exception Struck

let rec is_struck = function
  | Struck -> true
  | Fun.Finally_raised e -> is_struck e
  | _ -> false

let rounds = Race.often 300

(* A timer, whose handler raises, ends at random. *)
let struck index f () =
  let random = Race.random index in
  let armed = ref false and raised = ref 0 in
  let handle _ =
    if !armed then begin
      armed := false;
      incr raised;
      raise Struck
    end
  in
  let before = Sys.signal Sys.sigalrm (Signal_handle handle) in
  let set it_value =
    ignore
      (Unix.setitimer ITIMER_REAL { it_interval = 0.; it_value }
        : Unix.interval_timer_status)
  in
  for round = 1 to rounds do
    with_pipe round @@ fun from to_ ->
    let it_value = 1e-6 *. float (1 + Random.State.int random 400) in
    armed := true;
    (try
       set it_value;
       f from to_
     with e when is_struck e -> ());
    armed := false
  done;
  set 0.;
  Sys.set_signal Sys.sigalrm before;
  yes "struck" (!raised > 0)

let ready from to_ =
  byte to_;
  read from

(* The loop polls for two tasks, and resumes both. *)
let polled from to_ =
  Aio.run @@ fun () ->
  let reader = Fifo.fork (fun () -> read from)
  and other = Fifo.fork (fun () -> read from) in
  Fifo.yield ();
  byte to_;
  Fifo.join reader;
  byte to_;
  Fifo.join other

let given_up from _ =
  Aio.run @@ fun () ->
  Event.(select [ Aio.readable_evt from; timeout 0. ]);
  Event.(select [ Aio.readable_evt from; timeout 0.000_1 ])

(* The loop is told to forget it. *)
let closed_while_waited_for from _ =
  Aio.run @@ fun () ->
  let reader =
    Fifo.fork (fun () -> try read from with Unix.Unix_error _ -> ())
  in
  Fifo.yield ();
  Aio.close from;
  Fifo.join reader

let closed from _ = Aio.close from

let channel from to_ =
  Aio.run @@ fun () ->
  let ic = Aio.in_channel_of_descr from in
  byte to_;
  ignore (Aio.input_char ic : char)

let by_the_thread from _ =
  Event.(select [ Aio.readable_evt from; timeout 0.000_1 ])

let () =
  let struck index (name, f) = test name (struck index f) in
  Check.run "aio: interrupted"
    [
      ( "each moment",
        [
          test "a use" (at_each_moment use);
          test "a use, twice" (at_each_moment ~second:1 use);
          test "a watcher" (at_each_moment watch);
        ] );
      ( "a timer",
        List.mapi struck
          [
            ("ready", ready);
            ("polled", polled);
            ("given up", given_up);
            ("closed while waited for", closed_while_waited_for);
            ("closed", closed);
            ("a channel", channel);
            ("by the thread", by_the_thread);
          ] );
    ]
