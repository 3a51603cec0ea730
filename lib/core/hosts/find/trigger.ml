open Concord_suspend

(* [up] is [true] while this scheduler is known to be the innermost one. [Innermost] raises the
   flag, and other code only lowers it. [asked] is set when [prepare] is called. *)
type handler = Innermost.flag = { mutable up : bool; mutable asked : bool }

(* The states of [state] for one use of [await]

   State       Left by   To          By whom
   Init        await     Waiting r   the waiting task, in [block]
               release   Released    any thread
   Waiting r   release   Released    any thread, which then calls [r]
   Released    never (terminal) *)
type state = Init | Waiting of unit resumer | Released

(* Unbroken, because the caller owes the resumption. *)
let resume resumer =
  match resumer (Ok ()) with
  | (_ : bool) -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (resumer (Ok ()) : bool);
      Printexc.raise_with_backtrace e backtrace

let[@inline never] make ~suspend () =
  let state = Atomic.make Init in
  let release () =
    match Atomic.exchange state Released with
    | Waiting resumer -> resume resumer
    | Init | Released -> ()
  and await () =
    if Atomic.get state != Released then
      let block resumer =
        if Atomic.compare_and_set state Init (Waiting resumer) then None
        else (* it was released meanwhile *) Some ()
      in
      suspend block
  in
  Domain_local_await.{ release; await }

(* [outside] handles waits of code that runs in no task, for example in a callback from C. *)
let prepare t outside () =
  t.asked <- true;
  make () ~suspend:(fun block ->
      match Effect.perform (Suspend block) with
      | () -> ()
      | exception Effect.Unhandled (Suspend unhandled)
        when Identity.equal unhandled block ->
          outside block)

let prepare_by plugin () =
  make () ~suspend:(fun block ->
      match plugin.Plugin.suspend block with
      | () -> ()
      | exception Plugin.Elsewhere -> Park.suspend_thread block)

(* A trigger of [prepare_by] isn't recognised by it, because [Plugin.of_loop] wraps its [await] in
   another closure. *)
let () =
  Plugin.recognise_handlers (prepare { up = false; asked = false } ignore ())
