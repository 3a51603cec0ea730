open Ppxlib
open Ast_builder.Default

type visible = { binding : value_binding; used : bool }

type t = {
  hidden : (rec_flag * value_binding list) list;
  visible : visible list;
}

let in_expression ~loc { hidden; visible } body =
  let body =
    match List.filter (fun v -> not v.used) visible with
    | [] -> body
    | unused ->
        let bindings = List.map (fun v -> v.binding) unused in
        pexp_let ~loc Nonrecursive bindings body
  in
  let hide (flag, bindings) body = pexp_let ~loc flag bindings body in
  List.fold_right hide hidden body

(* The hidden bindings go into [open struct ... end], so that they don't become part of the
   user's module. *)
let in_structure ~loc ({ hidden; visible } as t) =
  let define flag bindings = pstr_value ~loc flag bindings in
  let any e =
    define Nonrecursive [ value_binding ~loc ~pat:(ppat_any ~loc) ~expr:e ]
  in
  if visible = [] then [ any (in_expression ~loc t (eunit ~loc)) ]
  else
    let hide (flag, bindings) = define flag bindings in
    let expr = pmod_structure ~loc (List.map hide hidden) in
    let used = List.filter (fun v -> v.used) visible in
    pstr_open ~loc (open_infos ~loc ~expr ~override:Fresh)
    :: define Nonrecursive (List.map (fun v -> v.binding) visible)
    :: List.map (fun v -> any v.binding.pvb_expr) used

(* Only these attributes are about the names that a binding defines. Others, such as
   [[@@inline]], are about its expression. *)
let about_names =
  let both name = [ name; "ocaml." ^ name ] in
  let names =
    List.concat_map both
      [ "warning"; "warnerror"; "doc"; "deprecated"; "alert" ]
  in
  List.filter (fun { attr_name = { txt; _ }; _ } -> List.mem txt names)

let visible ~used attributes (x : string loc) e =
  let pat = ppat_var ~loc:x.loc x in
  let binding = value_binding ~loc:(Delayed.ghost x.loc) ~pat ~expr:e in
  let pvb_attributes = about_names attributes in
  { binding = { binding with pvb_attributes }; used }
