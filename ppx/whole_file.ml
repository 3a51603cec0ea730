open Ppxlib
open Ast_builder.Default
open Delayed
open Knots

let whole_files = ref false

let () =
  Driver.add_arg "-concord-lazy" (Arg.Set whole_files)
    ~doc:" the keyword lazy is Concord's in all files"

let is_request item =
  match item.pstr_desc with
  | Pstr_attribute { attr_name = { txt = "concord.lazy"; _ }; _ } -> true
  | _ -> false

(* --- lazy e --------------------------------------------------------------- *)

(* As the compiler, which evaluates a variable at once. But in an object it may be an
   instance variable, which the compiler does not. *)
let rec is_variable ~in_object e =
  match e.pexp_desc with
  | Pexp_ident { txt = Lident _; _ } -> not in_object
  | Pexp_ident { txt = Ldot _; _ } -> true
  | Pexp_constraint (e, _) | Pexp_coerce (e, _, _) -> is_variable ~in_object e
  | _ -> false

let keyword ~loc ~in_object e =
  if is_variable ~in_object e then
    let loc = ghost loc in
    [%expr Concord__Lazy.from_val [%e e]]
  else make ~loc e

(* --- let ------------------------------------------------------------------ *)

let has_lazy b = Shapes.has_lazy b.pvb_pat

(* [let P = e] as [let variables = match e with P -> variables]. *)
let by_variables b =
  match Shapes.module_in b.pvb_pat with
  | _ when not (has_lazy b) -> b
  | Some loc ->
      let message = "lazy: no module can be bound beside a lazy pattern here" in
      { b with pvb_pat = ppat_any ~loc; pvb_expr = error ~loc message }
  | None ->
      let loc = ghost b.pvb_loc in
      let pattern, e =
        match b.pvb_constraint with
        | None -> (b.pvb_pat, b.pvb_expr)
        | Some (Pvc_constraint { typ; _ }) ->
            (ppat_constraint ~loc b.pvb_pat typ, b.pvb_expr)
        | Some (Pvc_coercion { ground; coercion }) ->
            (b.pvb_pat, pexp_coerce ~loc b.pvb_expr ground coercion)
      in
      let xs = Shapes.variables b.pvb_pat in
      let es = List.map (fun x -> evar ~loc x.txt) xs in
      let ps = List.map (fun x -> ppat_var ~loc:x.loc x) xs in
      let case = case ~lhs:pattern ~guard:None ~rhs:(pexp_tuple ~loc es) in
      let pvb_expr = Views.match_ ~loc ~plain:true e [ case ] in
      { b with pvb_pat = ppat_tuple ~loc ps; pvb_constraint = None; pvb_expr }

let let_in ~loc ~plain bindings body =
  match bindings with
  | ([ _ ] | _) when not (List.exists has_lazy bindings) ->
      pexp_let ~loc Nonrecursive bindings body
  | _ :: _ :: _ when plain ->
      pexp_let ~loc Nonrecursive (List.map by_variables bindings) body
  | _ ->
      let patterns = List.map (fun b -> b.pvb_pat) bindings in
      let patterns, pending = Views.split patterns in
      let with_pattern b pvb_pat = { b with pvb_pat } in
      let bindings = List.map2 with_pattern bindings patterns in
      let attributes =
        match bindings with [ b ] -> b.pvb_attributes | _ -> []
      in
      let body = Views.let_ attributes pending body in
      pexp_let ~loc Nonrecursive bindings body

(* --- fun ------------------------------------------------------------------ *)

let default_after_lazy loc =
  error ~loc
    "lazy: this default comes after a lazy pattern, whose variables it cannot \
     use; take the value apart in the body"

let parameters params =
  let pattern = function
    | { pparam_desc = Pparam_val (_, _, p); _ } -> Some p
    | _ -> None
  in
  let patterns, pending = Views.split (List.filter_map pattern params) in
  let rec put bound params patterns =
    match (params, patterns) with
    | ( ({ pparam_desc = Pparam_val (label, default, before); _ } as param)
        :: params,
        p :: patterns ) ->
        let check e =
          if mentions bound e then default_after_lazy e.pexp_loc else e
        in
        let default = Option.map check default in
        let pparam_desc = Pparam_val (label, default, p) in
        let names =
          (* bound later, if anything before is forced *)
          if bound <> [] || Shapes.has_lazy before then
            List.map (fun x -> x.txt) (Shapes.variables before)
          else []
        in
        { param with pparam_desc } :: put (names @ bound) params patterns
    | param :: params, patterns -> param :: put bound params patterns
    | [], _ -> []
  in
  (put [] params patterns, pending)

let function_ ~loc ~plain params typ body =
  let has_lazy = function
    | { pparam_desc = Pparam_val (_, _, p); _ } -> Shapes.has_lazy p
    | _ -> false
  in
  let some_lazy = List.exists has_lazy params in
  let params, bind =
    if some_lazy then
      let params, pending = parameters params in
      (params, Views.bind pending)
    else (params, Fun.id)
  in
  let body =
    match body with
    | Pfunction_body e -> `Body (bind e)
    | Pfunction_cases (cases, cases_loc, attributes) -> (
        match Views.function_ ~loc:cases_loc ~plain attributes cases with
        | `Cases (cases, attributes) when not some_lazy ->
            `Same (Pfunction_cases (cases, cases_loc, attributes))
        | `Cases (cases, attributes) ->
            `Argument
              (fun e ->
                let e = pexp_match ~loc:cases_loc e cases in
                bind { e with pexp_attributes = attributes })
        | `Match make -> `Argument (fun e -> bind (make e)))
  in
  match body with
  | `Same body -> Pexp_function (params, typ, body)
  | `Body e -> Pexp_function (params, typ, Pfunction_body e)
  | `Argument make ->
      let loc = ghost loc in
      let name = gen_symbol ~prefix:"argument" () in
      let p = ppat_var ~loc { txt = name; loc } in
      let pparam_desc = Pparam_val (Nolabel, None, p) in
      let param = { pparam_loc = loc; pparam_desc } in
      let body = Pfunction_body (make (evar ~loc name)) in
      Pexp_function (params @ [ param ], typ, body)

(* --- let* ----------------------------------------------------------------- *)

let letop { let_; ands; body } =
  let patterns = List.map (fun b -> b.pbop_pat) (let_ :: ands) in
  let patterns, pending = Views.split patterns in
  let with_pattern b pbop_pat = { b with pbop_pat } in
  let bindings = List.map2 with_pattern (let_ :: ands) patterns in
  {
    let_ = List.hd bindings;
    ands = List.tl bindings;
    body = Views.bind pending body;
  }

(* --- The traversal -------------------------------------------------------- *)

let translation =
  object (self)
    inherit Ast_traverse.map as super
    val mutable in_object = false

    (* The next expression is what an extension is applied to, such as [match%x]: its
       cases and bindings may mean something else. *)
    val mutable extended = false

    method! payload payload =
      (match payload with
      | PStr [ { pstr_desc = Pstr_eval _; _ } ] -> extended <- true
      | _ -> ());
      let payload = super#payload payload in
      extended <- false;
      payload

    method! attribute attribute = attribute

    method! class_structure s =
      let before = in_object in
      in_object <- true;
      let s = super#class_structure s in
      in_object <- before;
      s

    method! expression e =
      let plain = not extended in
      extended <- false;
      match e.pexp_desc with
      | Pexp_let (Recursive, bindings, body) when plain -> (
          match knots_of bindings with
          | _, [] -> super#expression e
          | bindings, knots ->
              let loc = e.pexp_loc in
              let let_ flag bindings body = pexp_let ~loc flag bindings body in
              let one binding body = let_ Nonrecursive [ binding ] body in
              let body =
                List.fold_right one (List.map tie_binding knots) body
              in
              let body = let_ (rec_flag bindings) bindings body in
              let knots = List.map knot_binding knots in
              let whole = List.fold_right one knots body in
              let pexp_attributes = e.pexp_attributes in
              super#expression { whole with pexp_attributes })
      | _ -> (
          let e = super#expression e in
          let loc = e.pexp_loc in
          let with_desc pexp_desc = { e with pexp_desc } in
          let instead new_ =
            let pexp_attributes = new_.pexp_attributes @ e.pexp_attributes in
            { new_ with pexp_attributes; pexp_loc = loc }
          in
          match e.pexp_desc with
          | Pexp_lazy inner -> instead (keyword ~loc ~in_object inner)
          | Pexp_match (scrutinee, cases) ->
              instead (Views.match_ ~loc ~plain scrutinee cases)
          | Pexp_try (body, cases) ->
              with_desc (Pexp_try (body, Views.try_ cases))
          | Pexp_let (Nonrecursive, bindings, body) ->
              instead (let_in ~loc ~plain bindings body)
          | Pexp_function (params, typ, body) ->
              with_desc (function_ ~loc ~plain params typ body)
          | Pexp_letop op -> with_desc (Pexp_letop (letop op))
          | _ -> e)

    method! structure items = List.concat_map self#items items

    method private items item =
      match item.pstr_desc with
      | Pstr_value (Recursive, bindings) -> (
          match knots_of bindings with
          | _, [] -> [ super#structure_item item ]
          | bindings, knots ->
              let loc = item.pstr_loc in
              let one b = pstr_value ~loc Nonrecursive [ b ] in
              let made = List.map (fun k -> one (knot_binding k)) knots in
              let expr = pmod_structure ~loc made in
              let hidden = open_infos ~loc ~expr ~override:Fresh in
              let ties = List.map (fun k -> one (tie_binding k)) knots in
              pstr_open ~loc hidden
              :: pstr_value ~loc (rec_flag bindings) bindings
              :: ties
              |> List.map super#structure_item)
      | Pstr_value (Nonrecursive, _) -> (
          match super#structure_item item with
          | { pstr_desc = Pstr_value (flag, bindings); _ } as item ->
              let bindings = List.map by_variables bindings in
              [ { item with pstr_desc = Pstr_value (flag, bindings) } ]
          | item -> [ item ])
      | _ when is_request item -> []
      | _ -> [ super#structure_item item ]
  end

(* What is left stands where nothing can be forced. *)
let refuse =
  object
    inherit Ast_traverse.map as super
    method! attribute attribute = attribute

    method! pattern p =
      match p.ppat_desc with
      | Ppat_lazy _ ->
          let loc = p.ppat_loc in
          ppat_extension ~loc
            (Location.error_extensionf ~loc
               "lazy: no value can be forced in this place; take it apart by a \
                match")
      | _ -> super#pattern p
  end

let translate_all items = refuse#structure (translation#structure items)

(* --- Where it was asked for ----------------------------------------------- *)

let where_asked =
  object
    inherit Ast_traverse.map as super

    method! structure items =
      let rec go = function
        | [] -> []
        | item :: rest when is_request item -> translate_all rest
        | item :: rest ->
            let item = super#structure_item item in
            item :: go rest
      in
      go items
  end

let translate items =
  if !whole_files then translate_all items else where_asked#structure items
