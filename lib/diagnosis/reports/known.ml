type t = {
  number : int;
  kind : string option;
  name : string option;
  made_at : Printexc.raw_backtrace option;
  holders : Holder.t list;
}

let unknown number =
  { number; kind = None; name = None; made_at = None; holders = [] }

(* A task that has ended while it held a structure will never give it back. *)
let has_ended (holder : Holder.t) =
  Holder.is_held holder && Who.has_ended holder.by

let as_ended (holder : Holder.t) =
  let name = holder.by.name ^ " (which has ended)" in
  { holder with by = { holder.by with name } }

let as_it_is holder = if has_ended holder then as_ended holder else holder

(* A holder that has ended may have given the structure back after [read]. So [read] is called
   again, and only those that still hold it are marked. *)
let who_hold read =
  let before = read () in
  match List.filter has_ended before with
  | [] -> before
  | ended ->
      let as_it_was holder =
        if List.memq holder ended then as_ended holder else holder
      in
      List.map as_it_was (read ())

let with_holders t holders = { t with holders = t.holders @ holders }

(* The items by their numbers, in the given order. An item with the number -1 is left out. *)
let table size numbered =
  let table = Array.make size [] in
  let add (number, item) =
    if number >= 0 then table.(number) <- item :: table.(number)
  in
  List.iter add (List.rev numbered);
  table

(* [labels] are the labels of each structure by its number, each with the number of the whole
   structure. *)
type tables = {
  labels : (Labels.t * int) list array;
  found : Holder.t list array;
}

(* The labels of the structure, and those of the structure that it is a part of. *)
let rec all_labels tables number =
  let with_whole (label, whole) =
    label :: (if whole < 0 then [] else all_labels tables whole)
  in
  List.concat_map with_whole tables.labels.(number)

let of_number tables number =
  let own = List.map fst tables.labels.(number) in
  let all = all_labels tables number in
  let labelled = List.concat_map (fun (l : Labels.t) -> l.holders ()) own in
  {
    number;
    kind = List.find_map (fun (l : Labels.t) -> l.kind) all;
    name = List.find_map (fun (l : Labels.t) -> l.name) all;
    made_at = List.find_map (fun (l : Labels.t) -> l.made_at) all;
    holders = List.map as_it_is (tables.found.(number) @ labelled);
  }

let numbered numbers ~from items =
  List.mapi (fun i item -> (numbers.(from + i), item)) items

let look_up pointers =
  let with_owner { Labels.attached; _ } =
    Option.map
      (fun label -> (Attached_data.owner attached, label))
      (Attached_data.attached attached)
  in
  let labels = List.filter_map with_owner (Labels.all ())
  and found = Observer.find () in
  let numbers =
    Address.numbers
      (Array.of_list
         (List.concat
            [
              Array.to_list pointers;
              List.map fst labels;
              List.map (fun (_, label) -> label.Labels.whole) labels;
              List.map fst found;
            ]))
  in
  let n = Array.length pointers and n_labels = List.length labels in
  let size = 1 + Array.fold_left Int.max (-1) numbers in
  let with_whole i (_, label) =
    (numbers.(n + i), (label, numbers.(n + n_labels + i)))
  in
  let tables =
    {
      labels = table size (List.mapi with_whole labels);
      found =
        table size
          (numbered numbers ~from:(n + (2 * n_labels)) (List.map snd found));
    }
  in
  (* Each structure is converted once, because many tasks may wait in it. *)
  let known = Array.make size None in
  let once number =
    if number < 0 then unknown number
    else
      match known.(number) with
      | Some known -> known
      | None ->
          let found = of_number tables number in
          known.(number) <- Some found;
          found
  in
  Array.map once (Array.sub numbers 0 n)

let holders pointer = (look_up [| pointer |]).(0).holders
