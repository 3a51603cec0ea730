open Ppxlib
open Ast_builder.Default
open Delayed

(* The right side of a [let rec] may be [lazy e], or a constructor with [lazy e] in it, but
   not a call. So

     let rec x = Cons (1, lazy e)

   is

     let knot, tie = Concord__Lazy.knot () in
     let rec x = Cons (1, knot) in
     let () = tie (fun () -> e) in ... *)
type knot = { name : string; tie : string; loc : location; e : expression }

let knots_of bindings =
  let knots = ref [] in
  let rec go e =
    let desc =
      match e.pexp_desc with
      | Pexp_lazy inner ->
          let loc = ghost e.pexp_loc in
          let name = gen_symbol ~prefix:"knot" () in
          let tie = gen_symbol ~prefix:"tie" () in
          knots := { name; tie; loc; e = inner } :: !knots;
          (evar ~loc name).pexp_desc
      | Pexp_tuple es -> Pexp_tuple (List.map go es)
      | Pexp_construct (c, Some e) -> Pexp_construct (c, Some (go e))
      | Pexp_variant (l, Some e) -> Pexp_variant (l, Some (go e))
      | Pexp_array es -> Pexp_array (List.map go es)
      | Pexp_record (fields, e) ->
          Pexp_record (List.map (fun (l, e) -> (l, go e)) fields, e)
      | Pexp_constraint (e, t) -> Pexp_constraint (go e, t)
      | Pexp_coerce (e, t, u) -> Pexp_coerce (go e, t, u)
      | desc -> desc
    in
    { e with pexp_desc = desc }
  in
  let binding b = { b with pvb_expr = go b.pvb_expr } in
  let bindings = List.map binding bindings in
  (bindings, List.rev !knots)

let knot_binding { name; tie; loc; _ } =
  let x name = ppat_var ~loc { txt = name; loc } in
  let pat = ppat_tuple ~loc [ x name; x tie ] in
  value_binding ~loc ~pat ~expr:[%expr Concord__Lazy.knot ()]

let tie_binding { tie; loc; e; _ } =
  let expr = [%expr [%e evar ~loc tie] (fun () -> [%e e])] in
  value_binding ~loc ~pat:(punit ~loc) ~expr

let names bindings =
  List.concat_map (fun b -> Shapes.variables b.pvb_pat) bindings

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

(* [rec] only if it is still needed, as the compiler would say that it is not. *)
let rec_flag bindings =
  let names = List.map (fun x -> x.txt) (names bindings) in
  if List.exists (fun b -> mentions names b.pvb_expr) bindings then Recursive
  else Nonrecursive
