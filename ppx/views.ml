open Ppxlib
open Ast_builder.Default
open Delayed
open Shapes

let force ~loc v =
  let loc = ghost loc in
  [%expr Concord__Lazy.force [%e v]]

(* --- Splitting ------------------------------------------------------------ *)

(* Which expression is to be matched with which pattern. *)
type pending = (expression * pattern) list

(* What stands to the right of a [lazy p] is looked at afterwards: so it becomes a variable
   too, unless it matches anyway. [inside] is what a pattern needs in order to be
   understood elsewhere. *)
let split ps =
  let pending = ref [] in
  let later p ~inside make =
    let loc = ghost p.ppat_loc in
    let name = gen_symbol ~prefix:"view" () in
    pending := (make (evar ~loc name), inside p) :: !pending;
    ppat_var ~loc { txt = name; loc }
  in
  let rec go ~inside p =
    (* A part of the pattern may need nothing of what another part opens. *)
    let ppat_loc =
      match p.ppat_desc with
      | Ppat_open _ when has_lazy p -> ghost p.ppat_loc
      | _ -> p.ppat_loc
    in
    let ppat_desc =
      if not (has_lazy p) then
        if !pending = [] || is_total p then p.ppat_desc
        else (later p ~inside Fun.id).ppat_desc
      else if (!pending <> [] && not (is_total p)) || has_alternatives p then
        (later p ~inside Fun.id).ppat_desc
      else
        match p.ppat_desc with
        | Ppat_lazy q ->
            let forced v = force ~loc:p.ppat_loc v in
            (later q ~inside forced).ppat_desc
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
  in
  let ps = List.map (go ~inside:Fun.id) ps in
  (ps, List.rev !pending)

(* --- Matching ------------------------------------------------------------- *)

let warning ~loc text =
  let loc = ghost loc in
  let payload = PStr [ pstr_eval ~loc (estring ~loc text) [] ] in
  attribute ~loc ~name:{ txt = "ocaml.warning"; loc } ~payload

let silent e =
  (* The last case may be one too many: the pattern does not tell. *)
  {
    e with
    pexp_attributes = warning ~loc:e.pexp_loc "-11" :: e.pexp_attributes;
  }

(* Raises [Match_failure] of this place. *)
let fail ~loc =
  let loc = ghost loc in
  let e = [%expr match false with true -> assert false] in
  { e with pexp_attributes = [ warning ~loc "-8" ] }

let any ~loc = ppat_any ~loc:(ghost loc)

let rec match_ ~loc ~plain e cases =
  let is_root p = match p.ppat_desc with Ppat_lazy _ -> true | _ -> false in
  let rec root p =
    match p.ppat_desc with
    | Ppat_lazy _ | Ppat_any | Ppat_var _ -> true
    | Ppat_alias (q, _) -> root q
    | Ppat_or (p, q) -> is_root p && is_root q
    | _ -> false
  in
  let is_exception c =
    match c.pc_lhs.ppat_desc with Ppat_exception _ -> true | _ -> false
  in
  let exceptions, values = List.partition is_exception cases in
  let rec begins p =
    match p.ppat_desc with
    | Ppat_lazy _ -> true
    | Ppat_alias (p, _) | Ppat_or (p, _) -> begins p
    | _ -> false
  in
  match values with
  | first :: _
    when plain && begins first.pc_lhs
         && List.for_all (fun c -> root c.pc_lhs) values ->
      force_first ~loc e exceptions values
  | _ ->
      if List.exists (fun c -> has_lazy c.pc_lhs) cases then begin
        let expanded = List.map (fun c -> (c, case c)) cases in
        let cases, attributes = total ~loc expanded in
        let e = pexp_match ~loc e cases in
        { e with pexp_attributes = attributes }
      end
      else pexp_match ~loc e cases

(* The first case forces the value: so that is done for all, and the compiler can tell
   whether a case is missing, or one too many. *)
and force_first ~loc e exceptions values =
  let ghost_loc = ghost loc in
  let name = gen_symbol ~prefix:"view" () in
  let v = evar ~loc:ghost_loc name in
  let rec root p names =
    match p.ppat_desc with
    | Ppat_lazy q -> (q, names)
    | Ppat_alias (q, x) -> root q ((p, x) :: names)
    | Ppat_var x -> (any ~loc:p.ppat_loc, (p, x) :: names)
    | Ppat_or (a, b) ->
        let a, _ = root a [] and b, _ = root b [] in
        ({ p with ppat_desc = Ppat_or (a, b) }, names)
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

and case_ lhs rhs = { pc_lhs = lhs; pc_guard = None; pc_rhs = rhs }

(* One case. If it depends on what is forced, then that is its guard, and the patterns
   are matched again. *)
and case c =
  if not (has_lazy c.pc_lhs) then [ c ]
  else
    let alternatives = alternatives c.pc_lhs in
    match (alternatives, c.pc_guard) with
    | _ :: _ :: _, Some { pexp_loc = loc; _ } ->
        let message =
          "lazy: an or-pattern with a lazy pattern in it cannot have a guard; \
           write two cases"
        in
        let pc_lhs = any ~loc in
        [ { c with pc_lhs; pc_guard = Some (error ~loc message) } ]
    | _ -> List.map (alternative c) alternatives

and alternative c p =
  let lhs, pending = split [ p ] in
  let pc_lhs = List.hd lhs in
  let refutable (_, p) = not (is_total p) in
  let rec test = function
    | [] -> (
        match c.pc_guard with
        | Some g -> g
        | None -> ebool ~loc:(ghost p.ppat_loc) true)
    | (e, p) :: rest ->
        let loc = ghost p.ppat_loc in
        let yes = case_ (ghosts p) (test rest) in
        if is_total p then match_ ~loc ~plain:true e [ yes ]
        else
          let no = case_ (any ~loc) (ebool ~loc false) in
          silent (match_ ~loc ~plain:true e [ yes; no ])
  in
  let rec again = function
    | [] -> c.pc_rhs
    | (e, p) :: rest ->
        let loc = ghost p.ppat_loc in
        let q = if Option.is_some c.pc_guard then ghosts p else p in
        let yes = case_ q (again rest) in
        if is_total p then match_ ~loc ~plain:true e [ yes ]
        else
          let no = case_ (any ~loc) (fail ~loc) in
          silent (match_ ~loc ~plain:true e [ yes; no ])
  in
  let pc_guard =
    match c.pc_guard with
    | None when not (List.exists refutable pending) -> None
    | _ -> Some (test pending)
  in
  { pc_lhs; pc_guard; pc_rhs = again pending }

(* For the compiler, guards may be false: so it would find that a case is missing. *)
and total ~loc expanded =
  let is_total c = Option.is_none c.pc_guard && is_total c.pc_lhs in
  let is_guarded c = Option.is_some c.pc_guard in
  let became_guarded (before, after) =
    (not (is_guarded before)) && List.exists is_guarded after
  in
  let cases = List.concat_map snd expanded in
  if List.exists is_total cases || not (List.exists became_guarded expanded)
  then (cases, [])
  else (cases @ [ case_ (any ~loc) (fail ~loc) ], [ warning ~loc "-11" ])

let bind pending e =
  let one (scrutinee, p) e =
    match_ ~loc:(ghost p.ppat_loc) ~plain:true scrutinee [ case_ p e ]
  in
  List.fold_right one pending e

let rec let_ attributes pending e =
  let one (scrutinee, p) e =
    let loc = ghost p.ppat_loc in
    if has_alternatives p then match_ ~loc ~plain:true scrutinee [ case_ p e ]
    else
      let ps, pending = split [ p ] in
      let binding = value_binding ~loc ~pat:(List.hd ps) ~expr:scrutinee in
      let binding = { binding with pvb_attributes = attributes } in
      pexp_let ~loc Nonrecursive [ binding ] (let_ attributes pending e)
  in
  List.fold_right one pending e

let function_ ~loc ~plain attributes cases =
  if not (List.exists (fun c -> has_lazy c.pc_lhs) cases) then
    `Cases (cases, attributes)
  else if not plain then
    let expanded = List.map (fun c -> (c, case c)) cases in
    let cases, more = total ~loc expanded in
    `Cases (cases, more @ attributes)
  else
    `Match
      (fun e ->
        let e = match_ ~loc ~plain:true e cases in
        { e with pexp_attributes = attributes @ e.pexp_attributes })

let try_ cases = List.concat_map case cases
