(* A question that is performed outside the scheduler is answered by the scheduler around it,
   or by a handler in between. A greedy scheduler may be there, so [Greedy.outside] decides
   whether it is performed. *)
let of_triggers : (Domain_local_await.t -> Who.t option) list Atomic.t =
  Atomic.make []

let add_who_of_trigger who = Atomically.update of_triggers (List.cons who)

let who_of_trigger trigger =
  match List.find_map (fun who -> who trigger) (Atomic.get of_triggers) with
  | Some who -> who
  | None -> Who.unknown "a scheduler"

let asked_outside () = Greedy.outside Who_is.asked

(* The block of each suspension that only asks a question. *)
let ask_outside _ = Some (asked_outside ())
let is_question block = Identity.equal block ask_outside

let unless_around ~host ~around answer =
  match (answer, around) with
  | Some who, Some other when Who.same who other -> Who.unknown host
  | Some who, _ -> who
  | None, _ -> Who.unknown host

(* If the plug-in can suspend, its scheduler runs here. *)
let by_plugin (plugin : Plugin.t) =
  match Plugin.who plugin with
  | Some who -> who
  | None ->
      let suspend () = plugin.suspend ask_outside in
      let around = plugin.protect suspend in
      let answer =
        if plugin.takes_every_effect then None else Who_is.asked ()
      in
      unless_around ~host:plugin.name ~around answer

let is_like e other = Printexc.exn_slot_id e = Printexc.exn_slot_id other

(* A host may raise because it has cancelled the task and doesn't handle [Protect], or because
   it refuses to suspend the task. Then it raises again the second time. Other exceptions come
   only once. *)
let by_effect suspend =
  let host = "a scheduler" in
  let suspend () = suspend ask_outside in
  match suspend () with
  | Some around -> Some (unless_around ~host ~around (Who_is.asked ()))
  | None -> None
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      match suspend () with
      | exception again when is_like again e -> Some (Who.unknown host)
      | _ -> Printexc.raise_with_backtrace e backtrace)

(* The suspension is protected, because the caller may hold a structure that other tasks wait
   for. *)
let perform block =
  match
    Request.shield.by_effect
      (fun () -> Effect.perform (Concord_suspend.Suspend block))
      ~otherwise:(fun suspend -> suspend ())
  with
  | around -> Some around
  | exception Effect.Unhandled (Concord_suspend.Suspend unhandled)
    when Identity.equal unhandled block ->
      None

let how =
  {
    Request.by_effect =
      (fun () ~otherwise ->
        match by_effect perform with Some who -> who | None -> otherwise ());
    by_plugin = (fun plugin () -> by_plugin plugin);
    by_trigger =
      (fun trigger () -> Who_is.asked_or (fun () -> who_of_trigger trigger));
    by_thread = (fun () -> Who_is.asked_or Who_is.this_thread);
  }

(* --- Without an effect ----------------------------------------------------------- *)

let unknown () = Who.unknown "a scheduler"

let known (plugin : Plugin.t) =
  match Plugin.who plugin with
  | Some who -> who
  | None -> Who.unknown plugin.name

let rec first_of = function
  | [] -> Who_is.this_thread ()
  | plugin :: rest -> (
      match Plugin.who plugin with
      | Some who -> who
      | None -> unknown ()
      | exception Plugin.Elsewhere -> first_of rest)

(* The caller may also be in the loop of a scheduler that runs inside a greedy one, but outside
   all tasks of that one. *)
let beside_greedy () =
  match Greedy.innermost () with
  | Handles -> unknown ()
  | Has_plugin plugin when not plugin.takes_every_effect ->
      Who.unknown plugin.name
  | Has_plugin plugin -> (
      match known plugin with
      | who -> who
      | exception Plugin.Elsewhere -> unknown ())
  | Has_trigger trigger -> who_of_trigger trigger
  | Unregistered -> first_of (Plugin.takers ())

let rec in_plugin () =
  match Innermost.find () with
  | Noted plugin -> (
      match known plugin with
      | who -> who
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          in_plugin ())
  | Found plugin -> (
      match known plugin with
      | who -> who
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          first_of (Plugin.unregistered ()))
  | Trigger trigger -> who_of_trigger trigger
  | Nobody -> first_of (Plugin.unregistered ())

(* --- Which task ------------------------------------------------------------------- *)

(* A host that handles only [Suspend] passes questions and [Protect] to the scheduler around
   it, which may be a greedy one. Knowing the waiting task isn't worth that risk. *)
let task () =
  if Greedy.exist () && Greedy.may_be_around () then beside_greedy ()
  else Request.ask how ()

(* This doesn't suspend, because a resumer must not suspend its caller. So hosts that would
   have to suspend it remain unknown here. *)
let waker () =
  if Greedy.may_take_questions () then beside_greedy ()
  else Who_is.asked_or in_plugin
