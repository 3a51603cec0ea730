open Concord_suspend

(* [up] while it is known that this scheduler is the innermost one: [Innermost] puts the
   flag up, others put it down only. [asked] when [prepare] was called. *)
type handler = Innermost.flag = { mutable up : bool; mutable asked : bool }

(* [state], for one use of [await]

   State       Left by   To          By whom
   Init        await     Waiting r   the waiting task, in [block]
               release   Released    anyone
   Waiting r   release   Released    anyone; it then calls [r]
   Released    never (terminal) *)
type state = Init | Waiting of unit resumer | Released

(* The resumption is owed, and a signal handler may raise before the resumer has
   decided. *)
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
        else (* released meanwhile *) Some ()
      in
      suspend block
  in
  Domain_local_await.{ release; await }

(* [outside] serves code that runs in no task: in a callback from C, a finaliser, a
   signal handler. *)
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

(* Told by the code of [await], which is [make]'s. A trigger of [prepare_by] is given out
   in another closure, that of [Plugin.of_loop]. *)
let is_handler =
  let sample = prepare { up = false; asked = false } ignore () in
  fun (trigger : Domain_local_await.t) ->
    Identity.same_code trigger.await sample.await
