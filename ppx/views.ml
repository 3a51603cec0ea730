open Ppxlib
open Ast_builder.Default
open Delayed
open Shapes

let force ~loc v =
  let loc = ghost loc in
  [%expr Ppx_concord_runtime.force [%e v]]

(* --- Splitting ------------------------------------------------------------ *)

(* A match that is still to be done. [sure] is [true] if it always succeeds when the pattern from
   which it was split has matched. *)
type item = { value : expression; pattern : pattern; sure : bool }
type pending = item list

let binds_again p q =
  match variables [ p ] with
  | [] -> false
  | xs ->
      List.exists
        (fun y -> List.exists (fun x -> x.txt = y.txt) xs)
        (variables [ q ])

(* Patterns to the right of a [lazy p] must be matched after the forcing. So each of them
   becomes a variable too, and is matched later. It may stay if it always matches, but there
   are two exceptions. [lazy p] may refine its type, or it may bind a variable of the same name
   as [lazy p] does. [inside] adds to a pattern the [M.( ... )] around it, so that it has the
   same meaning in another place. *)
let rec split ps =
  let pending = ref [] in
  let later ?sure p ~inside make =
    let loc = ghost p.ppat_loc in
    let name = gen_symbol ~prefix:"view" () in
    let sure = Option.value sure ~default:(is_total p) in
    let value = make (evar ~loc name) in
    pending := { value; pattern = inside p; sure } :: !pending;
    ppat_var ~loc { txt = name; loc }
  in
  let keeps p { pattern = before; _ } =
    (is_plain p || not (may_refine before)) && not (binds_again before p)
  in
  let stays p =
    !pending = [] || (is_total p && List.for_all (keeps p) !pending)
  in
  let rec go ~inside p =
    (* After the split, a part of the pattern may use nothing of the module that it opens. The
       ghost location avoids a warning about that. *)
    let ppat_loc =
      match p.ppat_desc with
      | Ppat_open _ when has_lazy p -> ghost p.ppat_loc
      | _ -> p.ppat_loc
    in
    let ppat_desc =
      if not (stays p) then (later p ~inside Fun.id).ppat_desc
      else if not (has_lazy p) then p.ppat_desc
      else
        match p.ppat_desc with
        | Ppat_lazy q ->
            let forced v = force ~loc:p.ppat_loc v in
            (later q ~inside forced).ppat_desc
        | Ppat_or (a, b) -> either ~inside p a b
        | Ppat_alias (q, x) -> Ppat_alias (go ~inside q, x)
        | Ppat_constraint (q, t) -> Ppat_constraint (go ~inside q, t)
        | Ppat_open (m, q) ->
            let inside q =
              inside { p with ppat_loc; ppat_desc = Ppat_open (m, q) }
            in
            Ppat_open (m, go ~inside q)
        | Ppat_exception q -> Ppat_exception (go ~inside q)
        | Ppat_variant (l, Some q) -> Ppat_variant (l, Some (go ~inside q))
        | Ppat_construct (c, Some (types, q)) ->
            Ppat_construct (c, Some (types, go ~inside q))
        | Ppat_tuple ps -> Ppat_tuple (List.map (go ~inside) ps)
        | Ppat_array ps -> Ppat_array (List.map (go ~inside) ps)
        | Ppat_record (fields, closed) ->
            let field (label, p) = (label, go ~inside p) in
            Ppat_record (List.map field fields, closed)
        | desc -> desc
    in
    { p with ppat_desc; ppat_loc }
  and either ~inside p a b =
    let inside q =
      match q.ppat_desc with
      | Ppat_or (a, b) -> { q with ppat_desc = Ppat_or (inside a, inside b) }
      | _ -> inside q
    in
    let skeleton q =
      let qs, items = split [ q ] in
      (without_variables (List.hd qs), List.for_all (fun i -> i.sure) items)
    in
    let (a, a_sure), (b, b_sure) = (skeleton a, skeleton b) in
    if !pending = [] && a_sure && b_sure then
      let view = later p ~sure:true ~inside Fun.id in
      match view.ppat_desc with
      | Ppat_var x -> Ppat_alias ({ p with ppat_desc = Ppat_or (a, b) }, x)
      | desc -> desc
    else (later p ~inside Fun.id).ppat_desc
  in
  let ps = List.map (go ~inside:Fun.id) ps in
  (ps, List.rev !pending)

let split_one p =
  match split [ p ] with [ p ], pending -> (p, pending) | _ -> assert false

(* --- Matching ------------------------------------------------------------- *)

let warning ~loc text =
  let loc = ghost loc in
  let payload = PStr [ pstr_eval ~loc (estring ~loc text) [] ] in
  attribute ~loc ~name:{ txt = "ocaml.warning"; loc } ~payload

(* An expression that raises [Match_failure] with this location. *)
let fail ~loc =
  let loc = ghost loc in
  let e = [%expr match false with true -> assert false] in
  { e with pexp_attributes = [ warning ~loc "-8" ] }

let any ~loc = ppat_any ~loc:(ghost loc)
let case_ lhs rhs = { pc_lhs = lhs; pc_guard = None; pc_rhs = rhs }

(* The expression [match value with pattern -> yes | _ -> no]. [is_total] doesn't know all total
   patterns, so the last case may be redundant, and its warning is off. *)
let match_or ~no { value; pattern; _ } yes =
  let loc = ghost pattern.ppat_loc in
  let first = case_ pattern yes in
  if is_total pattern then pexp_match ~loc value [ first ]
  else
    let e = pexp_match ~loc value [ first; case_ (any ~loc) no ] in
    { e with pexp_attributes = [ warning ~loc "-4-11" ] }

let if_ ~loc a b c = pexp_ifthenelse ~loc a b (Some c)

(* An expression that tests whether [pending] and then [rest] match. It binds no variables
   outside of itself. *)
let rec test pending rest =
  match pending with
  | [] -> rest
  | ({ value; pattern; _ } as item) :: others -> (
      let loc = ghost pattern.ppat_loc in
      let no = ebool ~loc false in
      match pattern.ppat_desc with
      | Ppat_or (a, b) when has_lazy pattern ->
          if_ ~loc
            (if_ ~loc (matches value a) (ebool ~loc true) (matches value b))
            (test others rest) no
      | _ ->
          let pattern, inner = split_one pattern in
          match_or ~no { item with pattern } (test (inner @ others) rest))

and matches value pattern =
  let loc = ghost pattern.ppat_loc in
  test [ { value; pattern = ghosts pattern; sure = false } ] (ebool ~loc true)

(* The values of an or-pattern's variables, as one value. *)
let tuple ~loc = function
  | [] -> eunit ~loc
  | xs ->
      pexp_tuple ~loc (List.map (fun (x : string loc) -> evar ~loc x.txt) xs)

let tuple_pattern ~loc = function
  | [] -> punit ~loc
  | xs ->
      ppat_tuple ~loc
        (List.map (fun (x : string loc) -> ppat_var ~loc:x.loc x) xs)

let rec alternatives p =
  match p.ppat_desc with
  | Ppat_or (a, b) when has_lazy p -> alternatives a @ alternatives b
  | _ -> [ p ]

(* Matches [pending] again after [test] was true, and binds its variables in [e]. The variables
   of an or-pattern with [lazy p] in it become a tuple, so that [e] is not copied for each
   alternative. *)
let rec rebind pending e =
  match pending with
  | [] -> e
  | ({ value; pattern; _ } as item) :: others -> (
      let loc = ghost pattern.ppat_loc in
      match pattern.ppat_desc with
      | Ppat_or _ when has_lazy pattern ->
          let xs = variables [ pattern ] in
          let by p = rebind [ { item with pattern = p } ] (tuple ~loc xs) in
          let rec first = function
            | [] -> fail ~loc
            | [ p ] -> by p
            | p :: ps -> if_ ~loc (matches value p) (by p) (first ps)
          in
          pexp_match ~loc
            (first (alternatives pattern))
            [ case_ (tuple_pattern ~loc xs) (rebind others e) ]
      | _ ->
          let pattern, inner = split_one pattern in
          match_or ~no:(fail ~loc) { item with pattern }
            (rebind (inner @ others) e))

let test pending rest =
  test (List.map (fun i -> { i with pattern = ghosts i.pattern }) pending) rest

let rec match_ ~loc ~plain e cases =
  let rec is_root p =
    match p.ppat_desc with
    | Ppat_lazy _ | Ppat_any | Ppat_var _ -> true
    | Ppat_alias (q, _) -> is_root q
    | _ -> false
  in
  let is_exception c =
    match c.pc_lhs.ppat_desc with Ppat_exception _ -> true | _ -> false
  in
  let exceptions, values = List.partition is_exception cases in
  match values with
  | first :: _
    when plain && has_lazy first.pc_lhs
         && List.for_all (fun c -> is_root c.pc_lhs) values ->
      force_first ~loc e exceptions values
  | _ ->
      if List.exists (fun c -> has_lazy c.pc_lhs) cases then begin
        let cases, attributes = all_cases ~loc cases in
        let e = pexp_match ~loc e cases in
        { e with pexp_attributes = attributes }
      end
      else pexp_match ~loc e cases

(* The first case forces the value, so it can be forced once, before all cases. Then the compiler
   sees all patterns below [lazy] in one match, and reports missing and redundant cases. *)
and force_first ~loc e exceptions values =
  let ghost_loc = ghost loc in
  let name = gen_symbol ~prefix:"view" () in
  let v = evar ~loc:ghost_loc name in
  let rec root p names =
    match p.ppat_desc with
    | Ppat_lazy q -> (q, names)
    | Ppat_alias (q, x) -> root q ((p, x) :: names)
    | Ppat_var x -> (any ~loc:p.ppat_loc, (p, x) :: names)
    | _ -> (p, names)
  in
  let value c =
    let pc_lhs, names = root c.pc_lhs [] in
    let guarded = Option.is_some c.pc_guard in
    let name e ((p : pattern), (x : string loc)) =
      let loc = if guarded then ghost p.ppat_loc else x.loc in
      let pat = ppat_var ~loc { x with loc } in
      let binding = value_binding ~loc:ghost_loc ~pat ~expr:v in
      pexp_let ~loc:ghost_loc Nonrecursive [ binding ] e
    in
    let named e = List.fold_left name e names in
    let pc_guard = Option.map named c.pc_guard in
    { pc_lhs; pc_guard; pc_rhs = named c.pc_rhs }
  in
  let forced = force ~loc v in
  let inner = match_ ~loc ~plain:true forced (List.map value values) in
  let pat = ppat_var ~loc:ghost_loc { txt = name; loc = ghost_loc } in
  let outer = case_ pat inner :: List.concat_map case exceptions in
  pexp_match ~loc e outer

(* Translates one case. If the case depends on a forced value, then its guard tests this, and the
   right side matches the same patterns again to bind their variables. *)
and case c =
  if not (has_lazy c.pc_lhs) then [ c ]
  else
    match c.pc_lhs.ppat_desc with
    | Ppat_or (a, b) when is_exception a || is_exception b ->
        (* The alternatives become cases, because a variable can't be bound by a value in one
           and by an exception in the other. *)
        List.concat_map (fun p -> case { c with pc_lhs = p }) [ a; b ]
    | _ ->
        let pc_lhs, pending = split_one c.pc_lhs in
        let ghosts i = { i with pattern = ghosts i.pattern } in
        let again = List.map ghosts pending in
        let loc = ghost c.pc_lhs.ppat_loc in
        let pc_guard =
          match c.pc_guard with
          | None when List.for_all (fun i -> i.sure) pending -> None
          | None -> Some (test pending (ebool ~loc true))
          | Some g when List.for_all (fun i -> i.sure) pending ->
              Some (rebind again g)
          | Some g ->
              let no = ebool ~loc false in
              Some
                (if_ ~loc (test pending (ebool ~loc true)) (rebind again g) no)
        in
        let pending = if Option.is_some c.pc_guard then again else pending in
        [ { pc_lhs; pc_guard; pc_rhs = rebind pending c.pc_rhs } ]

and is_exception p =
  match p.ppat_desc with
  | Ppat_exception _ -> true
  | Ppat_or (a, b) -> is_exception a || is_exception b
  | Ppat_constraint (p, _) | Ppat_alias (p, _) | Ppat_open (_, p) ->
      is_exception p
  | _ -> false

(* Cases that became guarded don't count for the compiler as complete, so it would report a
   missing case. Therefore a last case is added that raises [Match_failure]. *)
and all_cases ~loc before =
  let expanded = List.map (fun c -> (c, case c)) before in
  let is_total c = Option.is_none c.pc_guard && is_total c.pc_lhs in
  let is_guarded c = Option.is_some c.pc_guard in
  let became_guarded (before, after) =
    (not (is_guarded before)) && List.exists is_guarded after
  in
  let cases = List.concat_map snd expanded in
  if List.exists is_total cases || not (List.exists became_guarded expanded)
  then (cases, [])
  else (cases @ [ case_ (any ~loc) (fail ~loc) ], [ warning ~loc "-11" ])

(* --- Elsewhere ------------------------------------------------------------ *)

let bind pending e =
  let one { value; pattern; _ } e =
    match_ ~loc:(ghost pattern.ppat_loc) ~plain:true value [ case_ pattern e ]
  in
  List.fold_right one pending e

let rec bindings attributes pending =
  let one { value; pattern; _ } =
    let loc = ghost pattern.ppat_loc in
    let binding pat expr =
      let binding = value_binding ~loc ~pat ~expr in
      { binding with pvb_attributes = attributes }
    in
    match pattern.ppat_desc with
    | Ppat_or _ when has_lazy pattern ->
        let xs = variables [ pattern ] in
        let case = case_ (ghosts pattern) (tuple ~loc xs) in
        let e = match_ ~loc ~plain:true value [ case ] in
        [ binding (tuple_pattern ~loc xs) e ]
    | _ ->
        let pattern, inner = split_one pattern in
        binding pattern value :: bindings attributes inner
  in
  List.concat_map one pending

let function_ ~loc ~plain cases =
  if not (List.exists (fun c -> has_lazy c.pc_lhs) cases) then (cases, [])
  else if not plain then all_cases ~loc cases
  else
    let loc = ghost loc in
    let name = gen_symbol ~prefix:"argument" () in
    let argument = ppat_var ~loc { txt = name; loc } in
    ([ case_ argument (match_ ~loc ~plain:true (evar ~loc name) cases) ], [])

let try_ cases = List.concat_map case cases
