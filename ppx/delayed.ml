open Ppxlib

let ghost loc = { loc with loc_ghost = true }

(* Other rewriters may put computations where there are attributes, and in the place
   of literals with suffixes that OCaml does not know. A variable may stand for an
   instance variable that changes, or for a field of a recursive module that is not
   there yet. *)
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
  | Pexp_newtype (_, e) (* [fun (type a) -> e] computes [e] *) -> is_value e
  | _ -> false

(* [Concord__Lazy] is the name that dune gives to the module [Concord.Lazy]. No module
   of the user's hides it, and messages show it as [Concord.Lazy]. *)

let delay ~loc e =
  let loc = ghost loc in
  [%expr Concord__Lazy.from_fun (fun () -> [%e e])]

let make ~loc e =
  if is_value e then
    let loc = ghost loc in
    [%expr Concord__Lazy.from_val [%e e]]
  else delay ~loc e

(* As an expression, so that the rest of the user's code is still looked at. *)
let error ~loc message =
  Ast_builder.Default.pexp_extension ~loc
    (Location.error_extensionf ~loc "%s" message)
