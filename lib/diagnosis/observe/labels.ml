type t = {
  kind : string option;
  name : string option;
  made_at : Printexc.raw_backtrace option;
  holders : unit -> Holder.t list;
  whole : Identity.pointer;
  figures : (unit -> Observer.figure list) option;
}

(* [is_first] is [true] if the label was attached when the structure was created. [is_replaced] is
   set when the structure gets another name, if this label has nothing but a name. *)
type label = {
  attached : t Attached_data.t;
  is_first : bool;
  is_over : unit -> bool;
  is_replaced : bool Atomic.t;
}

(* The newest is first. When the list is longer than [limit], labels of collected structures
   are dropped. [limit] is twice the number that was left the last time. *)
type labels = { all : label list; length : int; limit : int }

(* [named] has the labels with a name, and those of parts of a structure that may have a name.
   They are separate because each traced wait looks for a name. *)
type lists = { named : labels; others : labels }

let least = 1_000

let lists =
  let none = { all = []; length = 0; limit = least } in
  Atomic.make { named = none; others = none }

let is_useful label =
  not
    (Attached_data.is_useless label.attached
    || label.is_over ()
    || Atomic.get label.is_replaced)

let add_to { all; length; limit } label =
  if length < limit then { all = label :: all; length = length + 1; limit }
  else
    let all = label :: List.filter is_useful all in
    let length = List.length all in
    { all; length; limit = Int.max least (2 * length) }

let never () = false

let attach ?(is_over = never) ~is_first structure label =
  (if not (Observer.are_labelled ()) then Observer.(start labels));
  let is_named =
    Option.is_some label.name || not (Identity.is_nowhere label.whole)
  and attached = Attached_data.attach structure label in
  let is_replaced = Atomic.make false in
  let label = { attached; is_first; is_over; is_replaced } in
  Atomically.update lists (fun ({ named; others } as lists) ->
      if is_named then { lists with named = add_to named label }
      else { lists with others = add_to others label })

let nobody () = []

let label ?kind ?name ?made_at ?(holders = nobody) ?(whole = Identity.nowhere)
    ?figures () =
  { kind; name; made_at; holders; whole; figures }

(* If a structure was named after its creation, it has several labels. The first label is the
   oldest, so the search stops there. *)
let rec find_among labels pointer ~otherwise =
  match labels with
  | [] -> otherwise ()
  | { attached; is_first; _ } :: older -> (
      match Attached_data.attached_to pointer attached with
      | None -> find_among older pointer ~otherwise
      | Some label when is_first -> [ label ]
      | Some label -> label :: find_among older pointer ~otherwise)

let none () = []

let by_address =
  By_address.create (fun label -> Attached_data.owner label.attached)

let find_own pointer =
  let { named; others } = Atomic.get lists in
  find_among named.all pointer ~otherwise:(fun () ->
      find_among others.all pointer ~otherwise:none)

let is_name_only label =
  match label with
  | { name = Some _; kind = None; made_at = None; holders; figures = None; _ }
    ->
      holders == nobody
  | _ -> false

(* The name before is of no use any more. A program may give a structure a name for each request,
   so the labels must not get more and more. *)
let replace_name structure =
  let pointer = Identity.pointer structure in
  match By_address.find by_address (Atomic.get lists).named.all pointer with
  | { attached; is_first = false; is_replaced; _ } :: _ -> (
      match Attached_data.attached_to pointer attached with
      | Some label when is_name_only label -> Atomic.set is_replaced true
      | Some _ | None -> ())
  | _ -> ()

let add ?kind ?name ?made_at ?holders ?is_over structure =
  let label = label ?kind ?name ?made_at ?holders () in
  if is_name_only label && Observer.are_labelled () then replace_name structure;
  attach ?is_over ~is_first:false structure label

let rec find pointer =
  let with_whole label =
    label :: (if Identity.is_nowhere label.whole then [] else find label.whole)
  in
  List.concat_map with_whole (find_own pointer)

let first_kind = List.find_map (fun { kind; _ } -> kind)
let first_name = List.find_map (fun { name; _ } -> name)
let first_made_at = List.find_map (fun { made_at; _ } -> made_at)

(* Filtering all labels takes so long that other threads may add labels at any time. Those are
   in front of [before], and stay there. If [before] is no longer part of the list, another
   thread has already dropped the same labels. *)
let without_useless ~before ~useful { all; length; limit } =
  let rec with_newer = function
    | labels when labels == before -> Some useful
    | [] -> None
    | newest :: rest -> Option.map (List.cons newest) (with_newer rest)
  in
  match with_newer all with
  | Some all -> { all; length = List.length all; limit }
  | None -> { all; length; limit }

let useful_of { all; _ } replace =
  let useful = List.filter is_useful all in
  if List.compare_lengths useful all < 0 then
    Atomically.update lists (replace (without_useless ~before:all ~useful));
  useful

let all () =
  let { named; others } = Atomic.get lists in
  useful_of named (fun f lists -> { lists with named = f lists.named })
  @ useful_of others (fun f lists -> { lists with others = f lists.others })

(* --- At creation ------------------------------------------------------------- *)

let max_frames = 20

let made ~kind ~name ~holders ~figures structure =
  let made_at =
    if Observer.are_kept () then Some (Printexc.get_callstack max_frames)
    else None
  in
  if Option.is_some name || Option.is_some made_at || Option.is_some figures
  then
    let figures = Option.map (fun f () -> f structure) figures in
    attach ~is_first:true structure
      (label ?kind ?name ?made_at ?holders ?figures ())

(* A part that is waited in refers to the whole, so a strong pointer is enough. *)
let part ~waited_in whole part =
  let whole =
    if waited_in then Identity.strong_pointer whole else Identity.pointer whole
  in
  attach ~is_first:true part (label ~whole ())

let rec name pointer =
  let rec among = function
    | [] -> None
    | { attached; is_first; _ } :: older -> (
        match Attached_data.attached_to pointer attached with
        | None -> among older
        | Some { name = Some _ as own; _ } -> own
        | Some { whole; _ } -> (
            let of_whole =
              if Identity.is_nowhere whole then None else name whole
            in
            match of_whole with
            | None when not is_first -> among older
            | found -> found))
  in
  among (By_address.find by_address (Atomic.get lists).named.all pointer)

(* --- In words ------------------------------------------------------------------ *)

let is_of_library slot =
  match Printexc.Slot.name slot with
  | Some name -> String.starts_with ~prefix:"Concord" name
  | None -> false

let line raw =
  let slots = Option.value ~default:[||] (Printexc.backtrace_slots raw) in
  let target slot =
    if is_of_library slot then None
    else
      Option.map
        (fun { Printexc.filename; line_number; _ } ->
          Printf.sprintf "created in %s, line %d" filename line_number)
        (Printexc.Slot.location slot)
  in
  List.find_map target (Array.to_list slots)

let describe pointer =
  let first = function Some kind -> kind | None -> "structure" in
  let labels = find pointer in
  match
    ( first_kind labels,
      first_name labels,
      Option.bind (first_made_at labels) line )
  with
  | None, None, None -> None
  | kind, name, made ->
      let name = Option.map (Printf.sprintf " %S") name
      and made = Option.map (fun made -> ", " ^ made) made in
      Some
        (first kind
        ^ Option.value ~default:"" name
        ^ Option.value ~default:"" made)

(* --- Exceptions ------------------------------------------------------------------ *)

type raised = { thread : int; e : exn; by : Identity.pointer }

let same e e' = Printexc.exn_slot_id e = Printexc.exn_slot_id e'
let explained : exn list Atomic.t = Atomic.make []
let is_explained e = List.exists (same e) (Atomic.get explained)

(* The newest is first. There is at most one for each exception and thread. *)
let raised_ : raised list Atomic.t = Atomic.make []
let max_raised = 100
let thread () = Thread.id (Thread.self ())

let raises e structure =
  if is_explained e then
    let thread = thread () in
    let raised = { thread; e; by = Identity.pointer structure } in
    let is_other other = other.thread <> thread || not (same other.e e) in
    Atomically.update raised_ (fun before ->
        raised
        :: List.filteri (fun i other -> i < max_raised && is_other other) before)

let raised_by e =
  let thread = thread () in
  let is_it raised = raised.thread = thread && raised.e == e in
  Option.bind
    (List.find_opt is_it (Atomic.get raised_))
    (fun raised ->
      Option.map
        (fun text -> (first_kind (find raised.by), text))
        (describe raised.by))

let explain ?otherwise ?(of_kind = fun _ -> None) e =
  Atomically.update explained (List.cons e);
  Printexc.register_printer @@ fun raised ->
  if not (same raised e) then None
  else
    let otherwise = Option.map (fun text -> text raised) otherwise in
    match (raised_by raised, otherwise) with
    | None, otherwise -> otherwise
    | Some (kind, by), otherwise ->
        let name =
          match (Option.bind kind of_kind, otherwise) with
          | Some name, _ | None, Some name -> name
          | None, None -> Printexc.exn_slot_name e
        in
        Some (Printf.sprintf "%s (%s)" name by)
