(* OCaml has no hash of a value's identity but its address, and the collector moves values. A
   value moves when it leaves its minor heap, and when the heap is compacted. Minor collections
   stop all domains, so after the next one, each value that exists now has left its minor heap.

   [canary] is a small value that was in a minor heap when [addresses] was right. While it has
   not moved, no minor collection has happened, so no value has moved.

   An item that was added before the last minor collection but one doesn't move any more, except
   by a compaction. [young] are those that were added since [canary], [middle] those that were
   added between the canary before and this one. *)

module Addresses = Map.Make (Int)

type 'a placed = { item : 'a; address : int }

type 'a index = {
  from : 'a list;
  items : 'a list Addresses.t;
  young : 'a placed list;
  middle : 'a placed list;
  canary : Identity.pointer;
  canary_was : int;
  compactions : int;
}

type 'a t = { index : 'a index option Atomic.t; owner : 'a -> Identity.pointer }

let create owner = { index = Atomic.make None; owner }
let compactions () = (Gc.quick_stat ()).compactions

let canary () =
  let canary = Identity.strong_pointer (ref 0) in
  (canary, Address.of_target canary)

let has_moved index = Address.of_target index.canary <> index.canary_was

(* The newest item of each address is first. An item whose owner was collected has no address. *)
let place t (items, placed) item =
  let address = Address.of_target (t.owner item) in
  if address = 0 then (items, placed)
  else
    let add before = Some (item :: Option.value before ~default:[]) in
    (Addresses.update address add items, { item; address } :: placed)

let displace items { item; address } =
  let rest = List.filter (fun other -> other != item) in
  Addresses.update address
    (fun before ->
      match rest (Option.value before ~default:[]) with
      | [] -> None
      | some -> Some some)
    items

let rebuilt t all =
  let compactions = compactions () in
  let canary, canary_was = canary () in
  let items, young =
    List.fold_left (place t) (Addresses.empty, []) (List.rev all)
  in
  { from = all; items; young; middle = []; canary; canary_was; compactions }

(* Values have moved. *)
let followed t index =
  if compactions () <> index.compactions then rebuilt t index.from
  else
    let canary, canary_was = canary () in
    let move (items, placed) old =
      place t (displace items old, placed) old.item
    in
    let items, _ =
      List.fold_left move (index.items, []) (List.rev index.middle)
    in
    let items, middle =
      List.fold_left move (items, []) (List.rev index.young)
    in
    { index with items; young = []; middle; canary; canary_was }

(* The items before [from], the oldest first, or [None] if [all] doesn't end with [from]. *)
let newer ~from all =
  let rec walk newest = function
    | rest when rest == from -> Some newest
    | [] -> None
    | item :: rest -> walk (item :: newest) rest
  in
  walk [] all

let with_newer t all index =
  if index.from == all then index
  else
    match newer ~from:index.from all with
    | None -> rebuilt t all
    | Some newer ->
        let items, young =
          List.fold_left (place t) (index.items, index.young) newer
        in
        { index with from = all; items; young }

let rec current t all =
  let before = Atomic.get t.index in
  let index =
    match before with
    | None -> rebuilt t all
    | Some index when has_moved index -> with_newer t all (followed t index)
    | Some index -> with_newer t all index
  in
  match before with
  | Some same when same == index -> index
  | _ when Atomic.compare_and_set t.index before (Some index) -> index
  | _ -> current t all

(* If nothing has moved when the items were found, they are those of the address that was read
   before. *)
let rec find t all pointer =
  let index = current t all in
  let found = Addresses.find_opt (Address.of_target pointer) index.items in
  if has_moved index then find t all pointer else Option.value found ~default:[]
