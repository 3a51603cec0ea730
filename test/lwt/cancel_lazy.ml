(* [Lwt.cancel] of tasks that compute a lazy value or wait for it. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run

(* Another task then computes it, on another domain or on this one. *)
let lazy_restart other () =
  let runs = Atomic.make 0 and never = Promise.create () in
  let t =
    Lazy.from_fun (fun () ->
        if Atomic.fetch_and_add runs 1 = 0 then Promise.await never else 42)
  in
  run @@ fun () ->
  let first = Concord_lwt.Lazy.force t in
  let second = other t in
  let* () =
    let rec until_it_waits () =
      if Lazy.waiters t = 1 then Lwt.return_unit
      else Lwt.bind (Lwt.pause ()) until_it_waits
    in
    until_it_waits ()
  in
  Lwt.cancel first;
  yes "cancelled" (is_cancelled first);
  let+ v = second in
  int "the value" 42 v;
  int "runs" 2 (Atomic.get runs);
  int "waiters of the cancelled computation" 0 (Promise.waiters never)

let in_lwt t = Concord_lwt.Lazy.force t

let in_a_domain t =
  let p = Promise.create () in
  ignore
    (Domain.spawn (fun () -> Promise.fill p (Lazy.force t)) : unit Domain.t);
  Concord_lwt.to_lwt p

let lazy_waiter () =
  run @@ fun () ->
  let p = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await p) in
  let first = Concord_lwt.Lazy.force t in
  let second = Concord_lwt.Lazy.force t in
  Lwt.cancel second;
  yes "cancelled" (is_cancelled second);
  int "withdrawn" 0 (Lazy.waiters t);
  Promise.fill p 1;
  let+ v = first in
  int "the other's" 1 v
