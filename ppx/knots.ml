open Ppxlib
open Ast_builder.Default
open Delayed

(* The right side of a [let rec] may be [lazy e], or a constructor with [lazy e] in it. But it
   may not be a call, and Concord's lazy values are made by calls. So

     let rec x = Cons (1, lazy e)

   becomes

     let knot, tie = Ppx_concord_runtime.knot (fun x -> x) in
     let rec x = Cons (1, knot)
     and compute _ = tie (fun () -> e) in
     let _ = compute 0 in ...

   [e] stays in the [let rec], so that the compiler's reports about it are the same as without
   [lazy]. ([compute] is called with [0] instead of [()], because the user may have redefined
   the constructor [()].) *)
type knot = {
  name : string;
  tie : string;
  loc : location;
  e : expression;
  attributes : attributes;  (** The attributes of the binding. *)
}

let mentions names e =
  let search =
    object
      inherit [bool] Ast_traverse.fold as super

      method! expression e found =
        match e.pexp_desc with
        | Pexp_ident { txt = Lident x; _ } -> found || List.mem x names
        | _ -> super#expression e found

      method! extension _ _ = true
    end
  in
  names <> [] && search#expression e false

let knots_of names bindings =
  let knots = ref [] in
  let rec go attributes e =
    let go = go attributes in
    let same desc = { e with pexp_desc = desc } in
    match e.pexp_desc with
    | Pexp_lazy inner when is_value inner && not (mentions names inner) ->
        from_val ~loc:e.pexp_loc inner
    | Pexp_lazy inner ->
        let loc = ghost e.pexp_loc in
        let name = gen_symbol ~prefix:"knot" () in
        let tie = gen_symbol ~prefix:"tie" () in
        knots := { name; tie; loc; e = inner; attributes } :: !knots;
        evar ~loc name
    | Pexp_tuple es -> same (Pexp_tuple (List.map go es))
    | Pexp_construct (c, Some e) -> same (Pexp_construct (c, Some (go e)))
    | Pexp_variant (l, Some e) -> same (Pexp_variant (l, Some (go e)))
    | Pexp_array es -> same (Pexp_array (List.map go es))
    | Pexp_record (fields, e) ->
        same (Pexp_record (List.map (fun (l, e) -> (l, go e)) fields, e))
    | Pexp_constraint (e, t) -> same (Pexp_constraint (go e, t))
    | Pexp_coerce (e, t, u) -> same (Pexp_coerce (go e, t, u))
    | _ -> e
  in
  let binding b = { b with pvb_expr = go b.pvb_attributes b.pvb_expr } in
  let bindings = List.map binding bindings in
  (bindings, List.rev !knots)

let knot { name; tie; loc; e; _ } =
  let x name = ppat_var ~loc { txt = name; loc } in
  let pat = ppat_tuple ~loc [ x name; x tie ] in
  let typed =
    match e.pexp_desc with
    | Pexp_constraint (_, t) | Pexp_coerce (_, _, t) ->
        [%expr fun (x : [%t t]) -> x]
    | _ -> [%expr fun x -> x]
  in
  let expr = [%expr Ppx_concord_runtime.knot [%e typed]] in
  (Nonrecursive, [ value_binding ~loc ~pat ~expr ])

let tie bindings =
  let names b = Shapes.variables [ b.pvb_pat ] in
  let all = List.map (fun x -> x.txt) (List.concat_map names bindings) in
  match knots_of all bindings with
  | _, [] -> None
  | tied, knots ->
      let compute { tie; loc; e; attributes; _ } =
        let name = gen_symbol ~prefix:"compute" () in
        let expr = [%expr fun _ -> [%e evar ~loc tie] (fun () -> [%e e])] in
        let pat = ppat_var ~loc { txt = name; loc } in
        let call = [%expr [%e evar ~loc name] 0] in
        let pvb_attributes = Hidden.about_names attributes in
        ( { (value_binding ~loc ~pat ~expr) with pvb_attributes },
          (Nonrecursive, [ value_binding ~loc ~pat:(ppat_any ~loc) ~expr:call ])
        )
      in
      let computes, calls = List.split (List.map compute knots) in
      let hide b = { b with pvb_pat = Shapes.ghosts b.pvb_pat } in
      let used_elsewhere b (x : string loc) =
        let uses other = other != b && mentions [ x.txt ] other.pvb_expr in
        List.exists uses bindings
      in
      let visible b =
        let one (x : string loc) =
          let same = evar ~loc:(ghost x.loc) x.txt in
          Hidden.visible ~used:(used_elsewhere b x) b.pvb_attributes x same
        in
        List.map one (names b)
      in
      let hidden =
        List.map knot knots
        @ ((Recursive, List.map hide tied @ computes) :: calls)
      in
      Some { Hidden.hidden; visible = List.concat_map visible bindings }
