open Ppxlib

(* --- Questions about patterns --------------------------------------------- *)

let exists is p =
  let search =
    object
      inherit [bool] Ast_traverse.fold as super
      method! pattern p found = found || is p || super#pattern p found
      method! extension _ found = found
      method! attribute _ found = found
    end
  in
  search#pattern p false

let has_lazy =
  exists (fun p -> match p.ppat_desc with Ppat_lazy _ -> true | _ -> false)

let may_refine =
  exists (fun p ->
      match p.ppat_desc with
      | Ppat_construct _ | Ppat_extension _ -> true
      | _ -> false)

exception Wrong of location * string

let wrong loc format = Printf.ksprintf (fun s -> raise (Wrong (loc, s))) format
let is_among xs (x : string loc) = List.exists (fun y -> y.txt = x.txt) xs

let add (x : string loc) found =
  if is_among found x then
    wrong x.loc "Variable %s is bound several times in this matching" x.txt;
  x :: found

let collect =
  object (self)
    inherit [string loc list] Ast_traverse.fold as super

    method! pattern p found =
      match p.ppat_desc with
      | Ppat_var x -> add x found
      | Ppat_alias (p, x) -> add x (self#pattern p found)
      | Ppat_or (a, b) ->
          let xs = self#pattern a [] and ys = self#pattern b [] in
          let only_in xs ys =
            match
              List.find_opt (fun x -> not (is_among ys x)) (List.rev xs)
            with
            | None -> ()
            | Some x ->
                wrong p.ppat_loc
                  "Variable %s must occur on both sides of this | pattern" x.txt
          in
          only_in xs ys;
          only_in ys xs;
          List.fold_right add xs found
      | _ -> super#pattern p found

    method! extension _ found = found
    method! attribute _ found = found
  end

let variables ps =
  List.rev (List.fold_left (fun xs p -> collect#pattern p xs) [] ps)

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

let rec is_plain p =
  match p.ppat_desc with
  | Ppat_any | Ppat_var _ -> true
  | Ppat_alias (p, _) -> is_plain p
  | _ -> false

(* --- Changes of patterns -------------------------------------------------- *)

let ghosts =
  let map =
    object
      inherit Ast_traverse.map
      method! location = Delayed.ghost
    end
  in
  map#pattern

let rename other =
  let map =
    object
      inherit Ast_traverse.map as super

      method! pattern p =
        let p = super#pattern p in
        let other x = { x with txt = other x.txt } in
        match p.ppat_desc with
        | Ppat_var x -> { p with ppat_desc = Ppat_var (other x) }
        | Ppat_alias (q, x) -> { p with ppat_desc = Ppat_alias (q, other x) }
        | _ -> p
    end
  in
  map#pattern

let without_variables =
  let map =
    object (self)
      inherit Ast_traverse.map as super

      method! pattern p =
        match p.ppat_desc with
        | Ppat_var _ -> { p with ppat_desc = Ppat_any }
        | Ppat_alias (q, _) -> self#pattern q
        | _ -> super#pattern p
    end
  in
  map#pattern

let merge =
  let map =
    object
      inherit Ast_traverse.map as super

      method! pattern p =
        let p = super#pattern p in
        match p.ppat_desc with
        | Ppat_or
            ({ ppat_desc = Ppat_lazy a; _ }, { ppat_desc = Ppat_lazy b; _ }) ->
            let either = { p with ppat_desc = Ppat_or (a, b) } in
            { p with ppat_desc = Ppat_lazy either }
        | _ -> p
    end
  in
  map#pattern
