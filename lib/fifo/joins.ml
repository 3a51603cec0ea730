open Task_types
open Task

(* --- Which task it is ----------------------------------------------------------- *)

let host = "fifo"
let name task = Who.numbered "task" task.number

(* A report may call this on another domain, while the loop changes the task's scope and the
   scheduler's domain. That does no harm, because all scopes of a task have one scheduler. A
   report shows the domain only of tasks that wait, and these call [who] themselves. The
   pointer may be strong, because it is only kept during a report, or while a fork is traced. *)
let who_is task =
  Who.make_strong ~domain:task.scope.scheduler.domain ~host ~name:(name task)
    task

(* The schedulers in which a task has waited while waits were kept. A scheduler that has ended
   can be collected. *)
let known : (unit -> scheduler option) list Atomic.t = Atomic.make []
let alive = List.filter_map (fun weak -> weak ())

let rec note s =
  let before = Atomic.get known in
  if not (List.memq s (alive before)) then begin
    let is_alive other = Option.is_some (other ()) in
    let _, weak = Identity.viewed s Fun.id in
    let after = weak :: List.filter is_alive before in
    if not (Atomic.compare_and_set known before after) then note s
  end

let who task =
  let s = task.scope.scheduler in
  note s;
  Who_is.once ~domain:s.domain s.known task.number ~host
    ~origin:(fun () -> Numbers.find_opt task.number s.origins)
    ~name:(fun () -> name task)
    task

(* --- Who is waited for ---------------------------------------------------------- *)

(* The thread that runs the scheduler owns these records, and may be changing them. Each read
   returns the value of some moment, which is all that is promised. If a task has ended
   meanwhile, others have waited for it until just now. A free number has the owner of the
   outermost scope, whose own number differs. *)
let holders_in s =
  let held_by task =
    let holder = Holder.not_ended (who_is task) in
    let held = (Identity.strong_pointer task.ended, holder) in
    if is_daemon task then [ held ]
    else [ held; (Identity.strong_pointer (Members.home task), holder) ]
  in
  Array.to_list s.tasks
  |> List.filteri (fun number task -> task.number = number)
  |> List.filter (fun task -> not (Promise.is_resolved task.ended))
  |> List.concat_map held_by

let holders () = List.concat_map holders_in (alive (Atomic.get known))
let () = Observer.add_finder holders

(* --- In what is waited ----------------------------------------------------------- *)

let target_in scope operation = Target.make operation scope (fun _ -> [])
let target scope = target_in scope "Concord_fifo.Scope.run"

let[@inline never] sleep_kept s suspend block =
  note s;
  !Observer.it.sleep (target_in s.root "Concord_fifo.run") suspend block

let[@inline] sleep s suspend block =
  if Observer.are_kept () then sleep_kept s suspend block else suspend block

let fills task promise =
  Filler.add (fun () -> who_is task) ~is_resolved:Promise.is_resolved promise
