type t = Trigger.handler

let create () = Trigger.{ up = false; asked = false }

(* Until the caller returns, the loop can't continue. So if there is no other thread, domain or
   timeout, nothing can resume the caller. Signal handlers can't do so either, because they
   don't run in a parked thread. *)
let park_or_refuse block =
  if Others.may_wake ~asleep:0 then Park.suspend_thread block
  else
    match block (fun _ -> false) with
    | Some () -> ()
    | None -> Reach.refuse Park.In_handler

let using ?(outside = park_or_refuse) t loop =
  Innermost.using ~is_inside:Probe.is_inside
    ~prepare_for_await:(Trigger.prepare t outside) ~while_running:(fun () ->
      (* The loop may have moved here from another domain. A flag that was raised there would
         not go down because of what happens on this domain. *)
      t.Trigger.up <- false;
      Innermost.raise_flag t;
      Greedy.handling t loop)

(* Since the flag went up, a scheduler was registered or a task prepared to wait. So ask
   [Domain_local_await] for a trigger, and see whether it asks [t]. *)
let[@inline] asks t =
  t.Trigger.asked <- false;
  ignore (Innermost.ask () : Domain_local_await.t);
  if t.Trigger.asked then Innermost.raise_flag t;
  t.Trigger.asked

(* [asks] may have raised for two reasons. A foreign scheduler raises each time, and then it is
   the innermost one. Any other exception says nothing about the scheduler. Unbroken, because
   the caller has a continuation that would be lost, so the thread's next wait raises it. *)
let[@inline never] ask_again t e backtrace =
  let is_innermost =
    t.Trigger.asked
    || match asks t with answer -> answer | exception _ -> false
  in
  if is_innermost then Late.keep e backtrace;
  is_innermost

let[@inline never] ask_loops t =
  match asks t with
  | answer -> answer
  | exception e -> Sys.opaque_identity (ask_again t e (Backtrace.get ()))

let[@inline] is_innermost t = t.Trigger.up || ask_loops t
