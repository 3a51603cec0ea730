open Ppxlib
open Ast_builder.Default
open Delayed

let whole_files = ref false

let () =
  Driver.add_arg "-concord-lazy" (Arg.Set whole_files)
    ~doc:" Make the keyword lazy Concord's in all files"

let is_request item =
  match item.pstr_desc with
  | Pstr_attribute { attr_name = { txt = "concord.lazy"; _ }; _ } -> true
  | _ -> false

(* --- lazy e --------------------------------------------------------------- *)

(* The compiler evaluates [lazy x] at once if [x] is a variable, and so does this. But the
   compiler delays an instance variable. In an object a variable may be one, so it counts as
   none. *)
let rec is_variable ~in_object e =
  match e.pexp_desc with
  | Pexp_ident { txt = Lident _; _ } -> not in_object
  | Pexp_ident { txt = Ldot _; _ } -> true
  | Pexp_constraint (e, _) | Pexp_coerce (e, _, _) -> is_variable ~in_object e
  | _ -> false

let keyword ~loc ~in_object e =
  if is_variable ~in_object e then from_val ~loc e else make ~loc e

(* --- Patterns ------------------------------------------------------------- *)

(* Reports the errors that the compiler would find in the variables of these patterns. It can't
   find them itself, because it sees the patterns only after they were split. *)
let checked patterns =
  match Shapes.variables patterns with
  | (_ : string loc list) -> patterns
  | exception Shapes.Wrong (loc, message) ->
      let error = Location.error_extensionf ~loc "%s" message in
      List.map (fun _ -> ppat_extension ~loc error) patterns

(* --- let ------------------------------------------------------------------ *)

let has_lazy b = Shapes.has_lazy b.pvb_pat

(* The bindings are evaluated and matched one after the other. But no binding of a [let] with
   [and] may see the variables of another one. So if there are several, their variables get
   other names first. *)
let one_by_one bindings =
  let one b =
    match Shapes.module_in b.pvb_pat with
    | Some loc ->
        let message =
          "lazy: a module can't be bound beside a lazy pattern here. Use \
           another let"
        in
        let pvb_expr = error ~loc message in
        ([ { b with pvb_pat = ppat_any ~loc; pvb_expr } ], [])
    | None ->
        let other (x : string loc) =
          match bindings with
          | [ _ ] -> (x, x.txt)
          | _ -> (x, gen_symbol ~prefix:x.txt ())
        in
        let xs = List.map other (Shapes.variables [ b.pvb_pat ]) in
        let rename x =
          let is_x ((y : string loc), _) = String.equal x y.txt in
          snd (List.find is_x xs)
        in
        let p = Shapes.ghosts (Shapes.rename rename b.pvb_pat) in
        let visible (x, name) =
          Hidden.visible ~used:false b.pvb_attributes x
            (evar ~loc:(ghost x.loc) name)
        in
        let p, pending = Views.split [ p ] in
        ( { b with pvb_pat = List.hd p }
          :: Views.bindings b.pvb_attributes pending,
          List.map visible xs )
  in
  let hidden, visible = List.split (List.map one bindings) in
  let hide binding = (Nonrecursive, [ binding ]) in
  {
    Hidden.hidden = List.map hide (List.concat hidden);
    visible = List.concat visible;
  }

let let_in ~loc ~plain bindings body =
  match bindings with
  | _ when not (List.exists has_lazy bindings) ->
      pexp_let ~loc Nonrecursive bindings body
  | _ :: _ :: _ when plain ->
      Hidden.in_expression ~loc (one_by_one bindings) body
  | _ ->
      let patterns = List.map (fun b -> b.pvb_pat) bindings in
      let patterns, pending = Views.split patterns in
      let with_pattern b pvb_pat = { b with pvb_pat } in
      let bindings = List.map2 with_pattern bindings patterns in
      let attributes =
        match bindings with [ b ] -> b.pvb_attributes | _ -> []
      in
      let one binding body = pexp_let ~loc Nonrecursive [ binding ] body in
      List.fold_right one (Views.bindings attributes pending) body
      |> pexp_let ~loc Nonrecursive bindings

(* --- fun ------------------------------------------------------------------ *)

let default_after_lazy loc =
  error ~loc
    "lazy: this default can't use variables of a lazy pattern, or of a pattern \
     after it. Use a match in the body"

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
          if Knots.mentions bound e then default_after_lazy e.pexp_loc else e
        in
        let default = Option.map check default in
        let pparam_desc = Pparam_val (label, default, p) in
        let names =
          (* After the first forcing, variables are bound only in the body, so later defaults
             can't use them. *)
          if bound <> [] || Shapes.has_lazy before then
            List.map (fun x -> x.txt) (Shapes.variables [ before ])
          else []
        in
        { param with pparam_desc } :: put (names @ bound) params patterns
    | param :: params, patterns -> param :: put bound params patterns
    | [], _ -> []
  in
  (put [] params patterns, pending)

let function_ ~plain params typ body =
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
    | Pfunction_body e -> Pfunction_body (bind e)
    | Pfunction_cases (cases, cases_loc, attributes) -> (
        let loc = cases_loc in
        let cases, more = Views.function_ ~loc ~plain cases in
        let attributes = more @ attributes in
        match cases with
        | _ when not some_lazy -> Pfunction_cases (cases, loc, attributes)
        | _ ->
            let loc = ghost loc in
            let name = gen_symbol ~prefix:"argument" () in
            let e = pexp_match ~loc:cases_loc (evar ~loc name) cases in
            let lhs = ppat_var ~loc { txt = name; loc } in
            let case = case ~lhs ~guard:None ~rhs:(bind e) in
            Pfunction_cases ([ case ], cases_loc, attributes))
  in
  Pexp_function (params, typ, body)

(* --- let* ----------------------------------------------------------------- *)

let letop { let_; ands; body } =
  let patterns = List.map (fun b -> b.pbop_pat) (let_ :: ands) in
  let patterns = checked patterns in
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

    (* [true] if the next expression is the payload of an extension such as [match%x]. Then its
       cases and bindings may have another meaning. *)
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
          match Knots.tie bindings with
          | None -> super#expression e
          | Some hidden ->
              let loc = e.pexp_loc in
              let whole = Hidden.in_expression ~loc hidden body in
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
              with_desc (function_ ~plain params typ body)
          | Pexp_letop op -> with_desc (Pexp_letop (letop op))
          | _ -> e)

    method! structure items = List.concat_map self#items items

    method private items item =
      match item.pstr_desc with
      | Pstr_value (Recursive, bindings) -> (
          match Knots.tie bindings with
          | None -> [ super#structure_item item ]
          | Some hidden ->
              let loc = item.pstr_loc in
              List.map super#structure_item (Hidden.in_structure ~loc hidden))
      | Pstr_value (Nonrecursive, _) -> (
          match super#structure_item item with
          | { pstr_desc = Pstr_value (_, bindings); pstr_loc = loc; _ }
            when List.exists has_lazy bindings ->
              Hidden.in_structure ~loc (one_by_one bindings)
          | item -> [ item ])
      | _ when is_request item -> []
      | _ -> [ super#structure_item item ]
  end

let check =
  object
    inherit Ast_traverse.map
    method! attribute attribute = attribute
    method! pattern p = Shapes.merge (List.hd (checked [ p ]))
  end

(* Any [lazy p] that is left after the translation is in a place where no value can be forced. *)
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
               "lazy: a lazy pattern can't be used here. Use a match expression")
      | _ -> super#pattern p
  end

let translate_all items =
  refuse#structure (translation#structure (check#structure items))

(* --- [@@@concord.lazy] ------------------------------------------------------ *)

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
