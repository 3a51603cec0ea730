open Ppxlib

(* --- Looking at patterns -------------------------------------------------- *)

let has_lazy p =
  let search =
    object
      inherit [bool] Ast_traverse.fold as super

      method! pattern p found =
        match p.ppat_desc with
        | Ppat_lazy _ -> true
        | _ -> found || super#pattern p found

      method! extension _ found = found
      method! attribute _ found = found
    end
  in
  search#pattern p false

let variables p =
  let collect =
    object
      inherit [string loc list] Ast_traverse.fold as super

      method! pattern p found =
        match p.ppat_desc with
        | Ppat_var x -> x :: found
        | Ppat_alias (p, x) -> x :: super#pattern p found
        | Ppat_or (p, _) -> super#pattern p found
        | _ -> super#pattern p found

      method! extension _ found = found
      method! attribute _ found = found
    end
  in
  List.rev (collect#pattern p [])

let module_in p =
  let search =
    object
      inherit [location option] Ast_traverse.fold as super

      method! pattern p found =
        match p.ppat_desc with
        | Ppat_unpack { txt = Some _; loc } -> Some loc
        | _ -> super#pattern p found
    end
  in
  search#pattern p None

let rec is_total p =
  match p.ppat_desc with
  | Ppat_any | Ppat_var _ | Ppat_unpack _ -> true
  | Ppat_construct ({ txt = Lident "()"; _ }, None) -> true
  | Ppat_alias (p, _) | Ppat_constraint (p, _) | Ppat_open (_, p) | Ppat_lazy p
    ->
      is_total p
  | Ppat_tuple ps -> List.for_all is_total ps
  | Ppat_record (fields, _) -> List.for_all (fun (_, p) -> is_total p) fields
  | Ppat_or (p, q) -> is_total p || is_total q
  | _ -> false

let ghosts =
  let map =
    object
      inherit Ast_traverse.map
      method! location = Delayed.ghost
    end
  in
  map#pattern

(* --- Alternatives --------------------------------------------------------- *)

let rec alternatives p =
  let same desc p' = { p with ppat_desc = desc p' } in
  if not (has_lazy p) then [ p ]
  else
    match p.ppat_desc with
    | Ppat_or (a, b) -> alternatives a @ alternatives b
    | Ppat_alias (q, x) ->
        List.map (same (fun q -> Ppat_alias (q, x))) (alternatives q)
    | Ppat_constraint (q, t) ->
        List.map (same (fun q -> Ppat_constraint (q, t))) (alternatives q)
    | Ppat_open (m, q) ->
        List.map (same (fun q -> Ppat_open (m, q))) (alternatives q)
    | Ppat_exception q ->
        List.map (same (fun q -> Ppat_exception q)) (alternatives q)
    | Ppat_variant (l, Some q) ->
        List.map (same (fun q -> Ppat_variant (l, Some q))) (alternatives q)
    | Ppat_construct (c, Some (types, q)) ->
        List.map
          (same (fun q -> Ppat_construct (c, Some (types, q))))
          (alternatives q)
    | Ppat_tuple ps -> List.map (same (fun ps -> Ppat_tuple ps)) (all ps)
    | Ppat_array ps -> List.map (same (fun ps -> Ppat_array ps)) (all ps)
    | Ppat_record (fields, closed) ->
        let labels, ps = List.split fields in
        let record ps = Ppat_record (List.combine labels ps, closed) in
        List.map (same record) (all ps)
    | _ -> [ p ]

and all = function
  | [] -> [ [] ]
  | p :: ps ->
      let rest = all ps in
      List.concat_map
        (fun p -> List.map (fun ps -> p :: ps) rest)
        (alternatives p)

let has_alternatives p = List.compare_length_with (alternatives p) 1 > 0
