(* Tasks of Lwt that wait with Concord (section 5 of "Effectively Composing Concurrency
   Libraries"). A wait suspends a promise of Lwt's, but not its loop. *)

open Concord.Tools
open Effect.Deep

(* Continues [k] with an outcome that may come from any thread. Only Lwt's loop may resolve
   its promises, so the resumer notifies the loop. *)
let suspend block k =
  let outcome = Atomic.make None in
  let promise, resolver = Lwt.wait () in
  let go_on () = Lwt.wakeup_later resolver (Option.get (Atomic.get outcome)) in
  let notification = Lwt_unix.make_notification ~once:true go_on in
  let resumer v =
    let first = Atomic.compare_and_set outcome None (Some v) in
    if first then Lwt_unix.send_notification notification;
    first
  in
  Lwt.on_success promise (function
    | Ok v -> continue k v
    | Error e -> discontinue k e);
  match block resumer with
  | None -> ()
  | Some v -> ignore (resumer (Ok v) : bool)
  | exception e -> ignore (resumer (Error e) : bool)

(* [run f] is resolved when [f ()] has ended. [f] may wait. *)
let run f =
  let promise, resolver = Lwt.wait () in
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    match e with
    | Suspend.Suspend block -> Some (fun k -> suspend block k)
    | _ -> None
  in
  match_with f ()
    {
      retc = Lwt.wakeup_later resolver;
      exnc = Lwt.wakeup_later_exn resolver;
      effc;
    };
  promise
