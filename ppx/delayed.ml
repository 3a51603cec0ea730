open Ppxlib

let ghost loc = { loc with loc_ghost = true }

(* Whether [e] needs no computation. Three kinds of expressions only seem to be values. Other
   rewriters may replace an expression with attributes by a computation, and so they may
   replace a literal with a suffix that OCaml doesn't know. A variable may be an instance
   variable, which changes, or a field of a recursive module, which doesn't exist yet. *)
let rec is_value e =
  e.pexp_attributes = []
  &&
  match e.pexp_desc with
  | Pexp_constant (Pconst_integer (_, (None | Some ('l' | 'L' | 'n'))))
  | Pexp_constant (Pconst_float (_, None))
  | Pexp_constant (Pconst_char _ | Pconst_string _)
  | Pexp_construct (_, None)
  | Pexp_variant (_, None)
  | Pexp_function _ ->
      true
  | Pexp_constraint (e, _) | Pexp_coerce (e, _, _) -> is_value e
  | Pexp_newtype (_, e) ->
      is_value e (* because [fun (type a) -> e] computes [e] *)
  | _ -> false

(* Whether the compiler may need the expected type in order to type [e]. For example, it may
   need it to find a label or a constructor, or to read a string as a format. In doubt, the
   answer is yes, because [with_type] is always correct. *)
let rec needs_type e =
  match e.pexp_desc with
  | Pexp_ident _ | Pexp_apply _ | Pexp_field _ | Pexp_send _ | Pexp_constraint _
  | Pexp_coerce _
  | Pexp_constant (Pconst_integer _ | Pconst_float _ | Pconst_char _)
  | Pexp_construct ({ txt = Lident ("()" | "true" | "false" | "[]"); _ }, None)
    ->
      false
  | Pexp_let (_, _, e) | Pexp_sequence (_, e) -> needs_type e
  | Pexp_ifthenelse (_, a, b) ->
      needs_type a || Option.fold ~none:false ~some:needs_type b
  | _ -> true

(* The interface of [Ppx_concord_runtime] explains this code. *)
let with_type ~loc pair argument =
  let result = gen_symbol ~prefix:"result" () in
  let make = gen_symbol ~prefix:"make" () in
  let p name = Ast_builder.Default.ppat_var ~loc { txt = name; loc } in
  let e name = Ast_builder.Default.evar ~loc name in
  [%expr
    match [%e pair] with
    | [%p p result], [%p p make] ->
        if false then [%e e result] () else [%e e make] [%e argument]]

let delay ~loc e =
  let loc = ghost loc in
  let argument = [%expr fun () -> [%e e]] in
  if needs_type e then
    with_type ~loc [%expr Ppx_concord_runtime.delayed ()] argument
  else [%expr Ppx_concord_runtime.from_fun [%e argument]]

let from_val ~loc e =
  let loc = ghost loc in
  if needs_type e then with_type ~loc [%expr Ppx_concord_runtime.forced ()] e
  else [%expr Ppx_concord_runtime.from_val [%e e]]

let make ~loc e = if is_value e then from_val ~loc e else delay ~loc e

(* The error is an expression, so that the compiler and editors still check the rest of the
   user's code. *)
let error ~loc message =
  Ast_builder.Default.pexp_extension ~loc
    (Location.error_extensionf ~loc "%s" message)
