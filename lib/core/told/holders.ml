type t = Holder.t option

let unknown : t = None
let to_list = Option.to_list
let[@inline] are_known () = Observer.are_holders_told ()
let[@inline never] caller_known () : t = Some (!Observer.it.caller ())
let[@inline] caller () = if are_known () then caller_known () else unknown

let[@inline never] taker_asked () =
  !Observer.it.before_wait ();
  caller ()

let[@inline] taker () =
  if Observer.looks_at_takers () then taker_asked () else unknown

let within f =
  !Observer.it.before_wait ();
  if are_known () then !Observer.it.within (fun t -> f (Some t)) else f unknown

(* Unbroken. It doesn't end in a call. *)
let[@inline] taken : t -> unit = function
  | None -> ()
  | Some holder ->
      Holder.held_from_now holder;
      ()

let ending ends (holder : t) =
  Option.iter (fun (holder : Holder.t) -> holder.ends <- ends) holder;
  holder

let waits : t -> unit = Option.iter Holder.not_held_yet

(* --- Mutexes -------------------------------------------------------------- *)

let before_lock (caller : t) mutex ~(owner : _ -> t) =
  let still_holds holder =
    match owner mutex with Some now -> now == holder | None -> false
  in
  match (owner mutex, caller) with
  | Some owner, Some caller ->
      !Observer.it.before_lock mutex owner caller ~still_holds
  | None, _ | _, None -> ()

let before_unlock mutex ~(owner : t) =
  match owner with
  | Some owner -> !Observer.it.before_unlock mutex owner
  | None -> ()

(* Unbroken, because the observer doesn't raise. *)
let gives_back ~kind structure : t -> unit = function
  | Some holder when Observer.measures () && Holder.is_held holder ->
      !Observer.it.gave_back ~kind structure holder;
      ()
  | Some _ | None -> ()

(* --- Several holders of one structure ------------------------------------- *)

let is_same (a : t) (b : t) =
  match (a, b) with
  | Some a, Some b ->
      Who.same a.by b.by || not (Who.is_known a.by || Who.is_known b.by)
  | None, _ | _, None -> false

let rec strike_out holder = function
  | [] -> None
  | first :: rest when is_same first holder -> Some rest
  | first :: rest -> Option.map (List.cons first) (strike_out holder rest)

let own holder all =
  Option.value ~default:unknown (List.find_opt (is_same holder) all)

let without holder all =
  match (strike_out holder all, all) with
  | Some others, _ -> others
  | None, [] -> []
  | None, first :: others ->
      if List.for_all (is_same first) others then others
      else List.map (Option.map Holder.forgotten) others

let all ~count known =
  let known = List.concat_map to_list known in
  let others = Int.max 0 (count - List.length known) in
  known @ List.init others (fun _ -> Holder.given)
