open Ppxlib
open Delayed

(* --- Bindings ------------------------------------------------------------- *)

(* A binding [let%lazy PATTERN : TYP = E] whose pattern is a variable. *)
type bound = {
  binding : value_binding;
  variable : pattern;
  e : expression;  (** [E], with [TYP] as its constraint. *)
}

let not_a_variable loc =
  error ~loc "let%lazy can bind only variables. Match where you force the value"

let quantified loc =
  error ~loc "let%lazy can't bind a polymorphic value. Remove the quantifiers"

let bound binding =
  let e = binding.pvb_expr in
  let loc = ghost e.pexp_loc in
  let variable, annotation =
    match (binding.pvb_pat, binding.pvb_constraint) with
    | { ppat_desc = Ppat_constraint (p, typ); _ }, None ->
        (p, Some (Pvc_constraint { locally_abstract_univars = []; typ }))
    | p, annotation -> (p, annotation)
  in
  match variable.ppat_desc with
  | Ppat_var _ -> (
      let ok e = Ok { binding; variable; e } in
      match annotation with
      | None -> ok e
      | Some (Pvc_constraint { locally_abstract_univars = { loc; _ } :: _; _ })
      | Some
          (Pvc_constraint
             {
               typ = { ptyp_desc = Ptyp_poly (_ :: _, _); ptyp_loc = loc; _ };
               _;
             }) ->
          Error (quantified loc)
      | Some (Pvc_constraint { typ; locally_abstract_univars = [] }) ->
          ok (Ast_builder.Default.pexp_constraint ~loc e typ)
      | Some (Pvc_coercion { ground; coercion }) ->
          ok (Ast_builder.Default.pexp_coerce ~loc e ground coercion))
  | _ -> Error (not_a_variable variable.ppat_loc)

(* --- let%lazy ------------------------------------------------------------- *)

let plain { binding; variable; e; _ } =
  let pvb_expr = make ~loc:binding.pvb_expr.pexp_loc e in
  { binding with pvb_pat = variable; pvb_constraint = None; pvb_expr }

let recursive { binding; variable; e; _ } =
  let loc = binding.pvb_expr.pexp_loc in
  let pvb_expr = Ast_builder.Default.pexp_lazy ~loc e in
  { binding with pvb_pat = variable; pvb_constraint = None; pvb_expr }

let delay_bindings flag bindings =
  let bounds = List.map bound bindings in
  let rec_ = List.map recursive (List.filter_map Result.to_option bounds) in
  let all_are_ok = List.for_all Result.is_ok bounds in
  match if flag = Recursive && all_are_ok then Knots.tie rec_ else None with
  | Some hidden -> Either.Left hidden
  | None ->
      let plain_or_error binding = function
        | Ok bound -> plain bound
        | Error pvb_expr -> { binding with pvb_expr; pvb_constraint = None }
      in
      let flag = if all_are_ok then flag else Nonrecursive in
      Either.Right (flag, List.map2 plain_or_error bindings bounds)

let let_in ~loc flag bindings body =
  match delay_bindings flag bindings with
  | Either.Right (flag, bindings) ->
      Ast_builder.Default.pexp_let ~loc flag bindings body
  | Either.Left hidden -> Hidden.in_expression ~loc hidden body

let definitions ~loc flag bindings =
  match delay_bindings flag bindings with
  | Either.Right (flag, bindings) ->
      [ Ast_builder.Default.pstr_value ~loc flag bindings ]
  | Either.Left hidden -> Hidden.in_structure ~loc hidden
