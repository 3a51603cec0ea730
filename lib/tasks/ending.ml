(* The reason why a scope ends. A failure has priority over all other reasons.

   [t], the only Atomic here

   State     Left by       To         By whom
   Running   cancel        Stopped    a task of the scope *
             a task's end  Unwound e  a task that its host cancelled, or the body *
             a task's end  Failed e   a task that raised e, or the body *
             close         Ended      the task that opened the scope
   Stopped   a task's end  Failed e   as above
             close         Ended
   Unwound   a task's end  Failed e   as above
             close         Ended
   Failed    close         Ended
   Ended     never (terminal)

   * After this change, the task must cancel the host's scope. *)
type state =
  | Running
  | Stopped
  | Unwound of exn * Printexc.raw_backtrace
  | Failed of exn * Printexc.raw_backtrace
  | Ended

type t = state Atomic.t

let create () = Atomic.make Running

let rec change t after =
  match (Atomic.get t, after) with
  | (Running as before), _ | ((Stopped | Unwound _) as before), Failed _ ->
      Atomic.compare_and_set t before after
      ||
      (* another task has ended on another domain *)
      change t after
  | Stopped, Stopped -> true
  | (Stopped | Unwound _ | Failed _ | Ended), _ -> false

let close t = Atomic.exchange t Ended

let is_closed t =
  match Atomic.get t with
  | Ended -> true
  | Running | Stopped | Unwound _ | Failed _ -> false
