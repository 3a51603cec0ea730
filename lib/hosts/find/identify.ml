(* A question that is performed outside the scheduler is answered by the scheduler around it,
   or by a handler in between. A greedy scheduler may be there, so [Greedy.outside] decides
   whether it is performed. *)
let asked_outside () = Greedy.outside Who.asked

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
      let answer = if plugin.takes_every_effect then None else Who.asked () in
      unless_around ~host:plugin.name ~around answer

let is_like e other = Printexc.exn_slot_id e = Printexc.exn_slot_id other

(* A host may raise because it has cancelled the task and doesn't handle [Protect], or because
   it refuses to suspend the task. Then it raises again the second time. Other exceptions come
   only once. *)
let by_effect suspend =
  let host = "a scheduler" in
  let suspend () = suspend ask_outside in
  match suspend () with
  | Some around -> Some (unless_around ~host ~around (Who.asked ()))
  | None -> None
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      match suspend () with
      | exception again when is_like again e -> Some (Who.unknown host)
      | _ -> Printexc.raise_with_backtrace e backtrace)

(* --- Who wakes ---------------------------------------------------------------- *)

(* This doesn't suspend, because a resumer must not suspend its caller. So hosts that would
   have to suspend it remain unknown here. *)
let rec who_is_first_of = function
  | [] -> Who.of_thread ()
  | plugin :: rest -> (
      match Plugin.who plugin with
      | Some who -> who
      | None -> Who.unknown "a scheduler"
      | exception Plugin.Elsewhere -> who_is_first_of rest)

let rec who_is_in_plugin () =
  match Innermost.find () with
  | Noted plugin -> (
      match Plugin.who plugin with
      | Some who -> who
      | None -> Who.unknown plugin.name
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          who_is_in_plugin ())
  | Found plugin -> (
      match Plugin.who plugin with
      | Some who -> who
      | None -> Who.unknown plugin.name
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          who_is_first_of (Plugin.unregistered ()))
  | Trigger trigger -> Plugin.who_of_trigger trigger
  | Nobody -> who_is_first_of (Plugin.unregistered ())

let waker () =
  if Greedy.may_take_questions () then Greedy.who ()
  else Who.asked_or who_is_in_plugin
