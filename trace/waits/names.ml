module Table = Hashtbl.Make (Int)

type label = { name : string option; whole : int  (** Its address, or 0. *) }
type t = { heap : Heap.t; labels : label Table.t }

(* An ephemeron has a link of the collector, the data, and then the key. *)
let data_of heap ephemeron = Heap.field heap ephemeron 1
let key_of heap ephemeron = Heap.field heap ephemeron 2

(* The types are those of lib/diagnosis/observe/labels.ml and lib/core/base/identity.ml. *)

let name_of heap label =
  let name = Heap.field heap label 1 in
  if Heap.is_block heap name then Some (Heap.text heap (Heap.field heap name 0))
  else None

let whole_of heap label =
  let pointer = Heap.field heap label 4 in
  if not (Heap.is_block heap pointer) then 0
  else
    let target = Heap.field heap pointer 0 in
    if Heap.tag heap pointer = 0 then key_of heap target
    else
      let target = Heap.field heap target 0 in
      if Heap.is_block heap target then Heap.field heap target 0 else 0

let add_label { heap; labels } label =
  let attached = Heap.field heap label 0 in
  if Heap.is_block heap attached then begin
    let structure = key_of heap attached and data = data_of heap attached in
    if Heap.is_block heap data then
      Table.add labels structure
        { name = name_of heap data; whole = whole_of heap data }
  end

let most = 1_000_000

(* The newest is first in the list, and has to be found first in the table. *)
let add_list ({ heap; _ } as t) labels =
  let rec all list n found =
    if n > 0 && Heap.is_block heap list then
      all (Heap.field heap list 1) (n - 1) (Heap.field heap list 0 :: found)
    else found
  in
  List.iter (add_label t) (all (Heap.field heap labels 0) most [])

let read heap ({ labels; _ } : Layout.t) =
  let t = { heap; labels = Table.create 100 } in
  let lists = Heap.field heap labels 0 in
  if Heap.is_block heap lists then add_list t (Heap.field heap lists 0);
  t

let deepest = 10

let rec find_from t structure n =
  if n = 0 then None
  else
    let labels = Table.find_all t.labels structure in
    match List.find_map (fun { name; _ } -> name) labels with
    | Some _ as name -> name
    | None ->
        List.find_map
          (fun { whole; _ } ->
            if whole = 0 then None else find_from t whole (n - 1))
          labels

(* [Condition.wait] waits in a record that is made for one wait, and its first field is the
   condition. *)
let find ({ heap; _ } as t) structure =
  match find_from t structure deepest with
  | Some _ as name -> name
  | None when Heap.is_block heap structure && Heap.size heap structure > 1 ->
      find_from t (Heap.field heap structure 0) deepest
  | None -> None
