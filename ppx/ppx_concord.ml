open Ppxlib
open Delayed

(* --- Extensions ----------------------------------------------------------- *)

let extension_loc = Expansion_context.Extension.extension_point_loc

(* [let%lazy x = e in body] and [[%lazy let x = e in body]] have the same tree. They differ
   only in the position of the name [lazy], which Ppxlib doesn't pass to a rule. So the second
   form gets an attribute before the rules run. *)
let mark = "concord.lazy_of_let"

let mark_lazy_of_let =
  object
    inherit Ast_traverse.map as super

    method! extension extension =
      match super#extension extension with
      | ( ({ txt = "lazy"; loc } as name),
          PStr
            [
              ({
                 pstr_desc =
                   Pstr_eval (({ pexp_desc = Pexp_let _; _ } as e), attributes);
                 _;
               } as item);
            ] )
        when Location.compare_pos loc.loc_start e.pexp_loc.loc_start < 0 ->
          let attribute =
            Ast_builder.Default.attribute ~loc:(ghost loc)
              ~name:{ txt = mark; loc = ghost loc }
              ~payload:(PStr [])
          in
          let e = { e with pexp_attributes = attribute :: e.pexp_attributes } in
          (name, PStr [ { item with pstr_desc = Pstr_eval (e, attributes) } ])
      | extension -> extension
  end

let no_expression payload =
  match payload with
  | PTyp _ ->
      "[%lazy: ...] isn't a type. The type of a lazy t is t Concord.Lazy.t"
  | PSig _ ->
      "[%lazy: ...] takes an expression, not a signature. Write [%lazy e]"
  | PPat _ -> "[%lazy? ...] isn't a pattern. Use Concord.Lazy.force"
  | PStr [] -> "[%lazy] needs an expression. Write [%lazy e]"
  | PStr [ { pstr_desc = Pstr_value _; _ } ] ->
      "[%lazy let ...] needs an in after its let"
  | PStr _ -> "[%lazy ...] takes one expression. Write [%lazy e]"

let expression ~ctxt payload =
  let loc = extension_loc ctxt in
  match payload with
  | PStr [ { pstr_desc = Pstr_eval (e, []); _ } ] -> (
      match e with
      | {
       pexp_desc = Pexp_let _;
       pexp_attributes = { attr_name = { txt; _ }; _ } :: pexp_attributes;
       _;
      }
        when String.equal txt mark ->
          make ~loc { e with pexp_attributes }
      | { pexp_desc = Pexp_let (recursive, bindings, body); _ } ->
          Bindings.let_in ~loc:e.pexp_loc recursive bindings body
      | _ -> make ~loc e)
  | payload -> error ~loc (no_expression payload)

let structure_item ~ctxt payload =
  let loc = extension_loc ctxt in
  match payload with
  | PStr [ { pstr_desc = Pstr_value (recursive, bindings); pstr_loc; _ } ] ->
      Bindings.definitions ~loc:pstr_loc recursive bindings
  | _ ->
      [
        Ast_builder.Default.pstr_extension ~loc
          (Location.error_extensionf ~loc
             "[%%%%lazy ...] isn't a definition. Write let%%lazy x = e")
          [];
      ]

(* These places can't have lazy values, so the user gets an error. *)

let core_type ~ctxt _ =
  let loc = extension_loc ctxt in
  Ast_builder.Default.ptyp_extension ~loc
    (Location.error_extensionf ~loc
       "[%%lazy ...] isn't a type. The type of a lazy t is t Concord.Lazy.t")

let pattern ~ctxt _ =
  let loc = extension_loc ctxt in
  Ast_builder.Default.ppat_extension ~loc
    (Location.error_extensionf ~loc
       "[%%lazy ...] isn't a pattern. Use Concord.Lazy.force")

let signature_item ~ctxt _ =
  let loc = extension_loc ctxt in
  Ast_builder.Default.psig_extension ~loc
    (Location.error_extensionf ~loc
       "%%lazy can't be used in a signature. Write val x : t Concord.Lazy.t")
    []

let () =
  let open Extension in
  let rule context expand = V3.declare "lazy" context Ast_pattern.__ expand in
  let extensions =
    [
      rule Context.expression expression;
      V3.declare_inline "lazy" Context.structure_item Ast_pattern.__
        structure_item;
      rule Context.core_type core_type;
      rule Context.pattern pattern;
      rule Context.signature_item signature_item;
    ]
  in
  Driver.register_transformation "concord" ~extensions
    ~preprocess_impl:(fun items ->
      Whole_file.translate (mark_lazy_of_let#structure items))
