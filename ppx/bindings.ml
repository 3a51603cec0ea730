open Ppxlib
open Delayed

(* --- Bindings ------------------------------------------------------------- *)

(* [let%lazy PATTERN : TYP = E]: the pattern is the variable [name]. *)
type bound = {
  binding : value_binding;
  variable : pattern;
  name : string;
  typ : core_type option;
  e : expression;  (** constrained *)
}

let not_a_variable loc =
  error ~loc
    "let%lazy binds variables only: take the value apart where it is forced"

let quantified loc = error ~loc "let%lazy: a Concord.Lazy.t is not polymorphic"

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
  | Ppat_var { txt = name; _ } -> (
      let ok typ e = Ok { binding; variable; name; typ; e } in
      match annotation with
      | None -> ok None e
      | Some (Pvc_constraint { locally_abstract_univars = { loc; _ } :: _; _ })
      | Some
          (Pvc_constraint
             {
               typ = { ptyp_desc = Ptyp_poly (_ :: _, _); ptyp_loc = loc; _ };
               _;
             }) ->
          Error (quantified loc)
      | Some (Pvc_constraint { typ; locally_abstract_univars = [] }) ->
          ok (Some typ) (Ast_builder.Default.pexp_constraint ~loc e typ)
      | Some (Pvc_coercion { ground; coercion }) ->
          ok (Some coercion)
            (Ast_builder.Default.pexp_coerce ~loc e ground coercion))
  | _ -> Error (not_a_variable variable.ppat_loc)

(* --- let%lazy rec --------------------------------------------------------- *)

(* Does [e] mention one of the variables? The answer is yes if [e] contains another
   extension, which may. *)
let mentions bounds e =
  let search =
    object
      inherit [bool] Ast_traverse.fold as super

      method! expression e found =
        match e.pexp_desc with
        | Pexp_ident { txt = Lident x; _ } ->
            found || List.exists (fun b -> String.equal b.name x) bounds
        | _ -> super#expression e found

      method! extension _ _ = true
    end
  in
  search#expression e false

let tuple_or_one tuple ~loc = function [ x ] -> x | xs -> tuple ~loc xs

type tied = {
  knots : value_binding list;  (** recursive *)
  bindings : value_binding list;
  uses : value_binding list;
      (** What the computation of another one uses is not unused. *)
}

(* The right side of a [let rec] may be [lazy], but not a call. So

     let%lazy rec x = e

   is a lazy value of Stdlib's, forced at once, by which the computation finds [x]:

     let rec knot = lazy (from_fun (fun () -> match knot with (lazy x) -> e))
     let (lazy x) = knot

   The keyword and its pattern cannot be hidden by a module of the user's. Nobody has
   [x] before [knot] is forced, so that no two tasks force it. In the [match] the
   variables are ghosts, of which the compiler does not say that they are unused. *)
let tie bounds =
  let open Ast_builder.Default in
  let knotted = List.map (fun b -> (b, gen_symbol ~prefix:"knot" ())) bounds in
  let find ~loc (b, knot) =
    let loc_x = ghost b.variable.ppat_loc in
    let x = ppat_var ~loc:loc_x { txt = b.name; loc = loc_x } in
    let x =
      match b.typ with
      | None -> x
      | Some typ ->
          let loc = loc_x in
          [%pat? ([%p x] : [%t typ] Concord__Lazy.t)]
    in
    (evar ~loc knot, [%pat? lazy [%p x]])
  in
  let computation b =
    let loc = ghost b.binding.pvb_expr.pexp_loc in
    if mentions bounds b.e then
      let knots, patterns = List.split (List.map (find ~loc) knotted) in
      let knots = tuple_or_one pexp_tuple ~loc knots in
      let patterns = tuple_or_one ppat_tuple ~loc patterns in
      delay ~loc
        (pexp_match ~loc knots [ case ~lhs:patterns ~guard:None ~rhs:b.e ])
    else make ~loc b.e
  in
  let knot (b, knot) =
    let loc = ghost b.variable.ppat_loc in
    let pvb_pat = ppat_var ~loc { txt = knot; loc } in
    let pvb_expr = [%expr lazy [%e computation b]] in
    let pvb_loc = ghost b.binding.pvb_loc in
    { b.binding with pvb_pat; pvb_constraint = None; pvb_expr; pvb_loc }
  in
  let untie (b, knot) =
    let loc = ghost b.variable.ppat_loc in
    let pvb_pat = [%pat? lazy [%p b.variable]] in
    let pvb_expr = evar ~loc knot in
    { b.binding with pvb_pat; pvb_constraint = None; pvb_expr }
  in
  let used b =
    List.exists (fun other -> other != b && mentions [ b ] other.e) bounds
  in
  let use b =
    let loc = ghost b.variable.ppat_loc in
    value_binding ~loc ~pat:(ppat_any ~loc) ~expr:(evar ~loc b.name)
  in
  {
    knots = List.map knot knotted;
    bindings = List.map untie knotted;
    uses = List.map use (List.filter used bounds);
  }

(* --- let%lazy ------------------------------------------------------------- *)

type bindings = Plain of value_binding list | Tied of tied

let plain { binding; variable; e; _ } =
  let pvb_expr = make ~loc:binding.pvb_expr.pexp_loc e in
  { binding with pvb_pat = variable; pvb_constraint = None; pvb_expr }

let delay_bindings recursive bindings =
  let bounds = List.map bound bindings in
  match recursive with
  | Recursive when List.for_all Result.is_ok bounds ->
      Tied (tie (List.map Result.get_ok bounds))
  | Recursive | Nonrecursive ->
      let plain_or_error binding = function
        | Ok bound -> plain bound
        | Error pvb_expr -> { binding with pvb_expr; pvb_constraint = None }
      in
      Plain (List.map2 plain_or_error bindings bounds)

let let_in ~loc recursive bindings body =
  let open Ast_builder.Default in
  match delay_bindings recursive bindings with
  | Plain bindings -> pexp_let ~loc Nonrecursive bindings body
  | Tied { knots; bindings; uses } ->
      let use binding body = pexp_let ~loc Nonrecursive [ binding ] body in
      List.fold_right use uses body
      |> pexp_let ~loc Nonrecursive bindings
      |> pexp_let ~loc Recursive knots

let definitions ~loc recursive bindings =
  let open Ast_builder.Default in
  match delay_bindings recursive bindings with
  | Plain bindings -> [ pstr_value ~loc Nonrecursive bindings ]
  | Tied { knots; bindings; uses } ->
      (* What this opens is no part of the user's module. *)
      let expr = pmod_structure ~loc [ pstr_value ~loc Recursive knots ] in
      let hidden = open_infos ~loc ~expr ~override:Fresh in
      let use binding = pstr_value ~loc Nonrecursive [ binding ] in
      pstr_open ~loc hidden
      :: pstr_value ~loc Nonrecursive bindings
      :: List.map use uses
