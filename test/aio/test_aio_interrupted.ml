(* A signal handler raises in the middle of operations. Whatever happens to them, the
   descriptor can be closed afterwards. No operation uses it any longer, and its number is
   returned to the system. *)

open Concord_test_support
open Check
module Aio = Concord_aio
module Owner = Concord_aio__Owner
module Poller_inbox = Concord_aio__Poller_inbox

(* Another file may have the number by now. *)
let is_open fd file =
  match Unix.fstat fd with
  | { st_ino; st_dev; _ } -> (st_ino, st_dev) = file
  | exception Unix.Unix_error (EBADF, _, _) -> false

(* Another thread closes it, because [close] would wait for a use that never ends. *)
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
  f from;
  check_close round from (st_ino, st_dev);
  Unix.close to_

(* --- At each moment --------------------------------------------------------- *)

(* Moments can't be counted across a system call, because the next signal would come before the
   call. So these operations make no system calls. *)
let at_each_moment ?second f () =
  let rec from n =
    with_pipe n (fun from ->
        let owner = Owner.find ~wait:ignore "test" from in
        let watcher = { Owner.forget = ignore } in
        ignore
          (Moments.at ?second n (fun () -> f owner watcher)
            : (unit, exn) result);
        (* An interrupted poller repeats these calls. *)
        Owner.unwatch owner watcher;
        Owner.leave owner);
    if Moments.was_raised () then from (n + 1) else n
  in
  yes "moments" (from 1 > 3)

let use owner _ = Owner.using "test" owner (fun () -> ignore (ref 0 : int ref))

let watch owner watcher =
  ignore (Owner.watch owner watcher : bool);
  (* Repeats the call, as after an interruption. *)
  ignore (Owner.watch owner watcher : bool);
  Owner.unwatch owner watcher

(* Some moments come before the message is posted, and some after it. *)
let post () =
  let inbox = Poller_inbox.create () in
  let is_rung () =
    let ready, _, _ = Unix.select [ Poller_inbox.bell inbox ] [] [] 0. in
    ready <> []
  in
  let was_posted n =
    yes "asleep" (Poller_inbox.announce inbox ~waiting:0);
    ignore
      (Moments.at n (fun () -> Poller_inbox.post inbox n) : (unit, exn) result);
    let was_posted = Poller_inbox.take inbox <> [] in
    let name = Printf.sprintf "rung, at moment %d" n in
    (if was_posted then yes else no) name (is_rung ());
    Poller_inbox.listen inbox;
    was_posted
  in
  let posted = List.init 20 (fun n -> was_posted (n + 1)) in
  yes "both" (List.mem true posted && List.mem false posted);
  Poller_inbox.close inbox

let () =
  Check.run "aio: interrupted"
    [
      ( "each moment",
        [
          test "a use" (at_each_moment use);
          test "a use, twice" (at_each_moment ~second:1 use);
          test "a watcher" (at_each_moment watch);
          test "a message to a loop that sleeps" post;
        ] );
    ]
