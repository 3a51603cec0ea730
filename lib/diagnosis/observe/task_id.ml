type t = { id : int; host : string; name : string }

(* The task itself sets these two fields. *)
type entry = {
  number : int;
  mutable label : string option;
  mutable origin : Who.origin option;
}

module Names = Map.Make (struct
  type t = string * string

  let compare = compare
end)

(* The tasks of each host and name. Several tasks may have the same key. A scheduler may reuse
   a name after its task has ended, and another scheduler may use it too. *)
type tasks = {
  known : entry Attached_data.t list Names.t;
  added : int;
  limit : int;
}

let least = 1_000
let tasks = Atomic.make { known = Names.empty; added = 0; limit = least }
let last_number = Atomic.make 0
let is_useful entry = not (Attached_data.is_useless entry)

(* Called when as many entries were added as [limit] says. [limit] is twice the number of names
   that were left the last time, so dropping costs O(1) amortised. *)
let without_useless { known; _ } =
  let useful entries =
    match List.filter is_useful entries with [] -> None | some -> Some some
  in
  let known = Names.filter_map (fun _ entries -> useful entries) known in
  let added = Names.cardinal known in
  { known; added; limit = Int.max least (2 * added) }

let find (who : Who.t) { known; _ } =
  Option.bind
    (Names.find_opt (who.host, who.name) known)
    (List.find_map (Attached_data.attached_to who.identity))

let add (who : Who.t) entry tasks =
  match Attached_data.attach_to_target who.identity entry with
  | None -> tasks
  | Some attached ->
      let { known; added; limit } =
        if tasks.added <= tasks.limit then tasks else without_useless tasks
      in
      let add entries =
        Some
          (attached :: List.filter is_useful (Option.value entries ~default:[]))
      in
      let known = Names.update (who.host, who.name) add known in
      { known; added = added + 1; limit }

let entry who =
  match find who (Atomic.get tasks) with
  | Some entry -> entry
  | None ->
      let number = 1 + Atomic.fetch_and_add last_number 1 in
      let entry = { number; label = None; origin = None } in
      Atomically.update tasks (add who entry);
      entry

let of_who (who : Who.t) =
  let { number; label; _ } = entry who in
  let name =
    match label with
    | None -> who.name
    | Some label -> Printf.sprintf "%s \"%s\"" who.name label
  in
  { id = number; host = who.host; name }

let name who label = (entry who).label <- Some label
let note_origin who origin = (entry who).origin <- Some origin

let origin (who : Who.t) =
  match who.origin with
  | Some _ as noted -> noted
  | None ->
      Option.bind (find who (Atomic.get tasks)) (fun entry -> entry.origin)
