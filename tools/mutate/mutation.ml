open Parsetree

type t = { start : int; stop : int; text : string; line : int; what : string }

let apply source { start; stop; text; _ } =
  String.sub source 0 start ^ text
  ^ String.sub source stop (String.length source - stop)

(* Puts the text on one line, and shortens it to what is needed to recognise it. *)
let short text =
  let words =
    String.split_on_char ' ' (String.map (function '\n' -> ' ' | c -> c) text)
  in
  let line = String.concat " " (List.filter (( <> ) "") words) in
  if String.length line <= 60 then line
  else
    String.sub line 0 40 ^ " ... "
    ^ String.sub line (String.length line - 15) 15

let pp source ppf { start; stop; what; _ } =
  Format.fprintf ppf "%s: %s"
    (short (String.sub source start (stop - start)))
    what

let lexbuf source =
  Lexer.init ();
  Lexing.from_string source

let modules source =
  let lexbuf = lexbuf source in
  let rec go names =
    match Lexer.token lexbuf with
    | Parser.EOF -> List.sort_uniq String.compare names
    | Parser.UIDENT name -> go (name :: names)
    | _ -> go names
  in
  go []

let is_index source =
  List.for_all
    (fun item ->
      match item.pstr_desc with
      | Pstr_attribute _
      | Pstr_module { pmb_expr = { pmod_desc = Pmod_ident _; _ }; _ } ->
          true
      | _ -> false)
    (Parse.implementation (lexbuf source))

(* The name of a value or a constructor, as the source has it. *)
let name e =
  match e.pexp_desc with
  | Pexp_ident { txt; _ } | Pexp_construct ({ txt; _ }, None) ->
      String.concat "." (Longident.flatten txt)
  | _ -> ""

(* Both names of a pair are of the same kind, infix operators or ordinary values. *)
let exchanged =
  [
    ("&&", "||"); ("<", "<="); (">", ">="); ("=", "<>"); ("==", "!="); ("+", "-");
  ]
  @ List.concat_map
      (fun (a, b) ->
        List.map (fun m -> (m ^ a, m ^ b)) [ ""; "Int."; "Atomic." ])
      [ ("succ", "pred"); ("incr", "decr"); ("true", "false") ]

let other name =
  List.find_map
    (fun (a, b) ->
      if a = name then Some b else if b = name then Some a else None)
    exchanged

let start e = e.pexp_loc.loc_start.pos_cnum
let stop e = e.pexp_loc.loc_end.pos_cnum

let is_apply_of names e =
  match e.pexp_desc with
  | Pexp_apply (f, _) -> List.mem (name f) names
  | _ -> false

let is_compare_and_set = is_apply_of [ "Atomic.compare_and_set" ]

(* Replaces [Step.Again] by [Step.Done], and [Again] by [Done]. *)
let beside written other =
  match String.rindex_opt written '.' with
  | Some dot -> String.sub written 0 (dot + 1) ^ other
  | None -> other

let last_name { Location.txt; _ } = Longident.last txt

(* The direct subexpressions. *)
let parts e =
  let found = ref [] in
  let expr _ e = found := e :: !found in
  let iterator = { Ast_iterator.default_iterator with expr } in
  Ast_iterator.default_iterator.expr iterator e;
  List.rev !found

let rec without_not e =
  match e.pexp_desc with
  | Pexp_apply (f, [ (_, e) ]) when name f = "not" -> without_not e
  | _ -> e

let all source =
  let found = ref [] in
  let between a b = String.sub source a (b - a) in
  let slice e = between (start e) (stop e) in
  let replace e text what =
    let line = e.pexp_loc.loc_start.pos_lnum in
    found := { start = start e; stop = stop e; text; line; what } :: !found
  in
  (* A comparison by [=] or [==] is negated at that operator, and the answer of a
     [compare_and_set] is replaced there too. So this handles only other conditions. *)
  let condition e =
    let inner = without_not e in
    if
      not
        (is_compare_and_set inner || is_apply_of [ "="; "<>"; "=="; "!=" ] inner)
    then
      match e.pexp_desc with
      | Pexp_apply (f, [ (_, e') ]) when name f = "not" ->
          replace e ("(" ^ slice e' ^ ")") "negated"
      | _ -> replace e ("(not (" ^ slice e ^ "))") "negated"
  in
  (* An [if] without [else] is not left out itself, because its branch is. *)
  let statement e =
    match e.pexp_desc with
    | Pexp_ifthenelse (_, _, None) | Pexp_assert _ | Pexp_sequence _ -> ()
    | _ -> if name e <> "()" then replace e "()" "left out"
  in
  let last e =
    match e.pexp_desc with
    | Pexp_apply _ | Pexp_setfield _ -> statement e
    | _ -> ()
  in
  let infix e f a b =
    let exchange operator =
      replace e
        ("("
        ^ between (start e) (start f)
        ^ operator
        ^ between (stop f) (stop e)
        ^ ")")
        (operator ^ " for " ^ name f)
    in
    Option.iter exchange (other (name f));
    if List.mem (name f) [ "+"; "-" ] && slice b = "1" then
      replace e (slice a) ("without " ^ name f ^ " 1")
  in
  let answers e =
    let always answer =
      replace e
        (Printf.sprintf "(let _ : bool = %s in %s)" (slice e) answer)
        ("answers always " ^ answer)
    in
    always "true";
    always "false"
  in
  (* Faults in the steps of lib/core/waiting/step.mli. If the rest of a step is left out, the type
     of its result isn't known here. The result is then [nothing], which is [()], [None],
     [false], [[]] or [0]. *)
  let nothing = "(Obj.magic ())" in
  let finished written = "(" ^ beside written "Done " ^ nothing ^ ")" in
  let hand_over e constructor fields =
    let field name =
      List.find_opt (fun (label, _) -> last_name label = name) fields
    in
    let not_resumed state next what =
      let become = beside constructor "Become" in
      replace e
        (Printf.sprintf "(%s (%s, %s))" become (slice state) (slice next))
        what
    in
    match (field "state", field "accepted", field "refused") with
    | ( Some (_, state),
        Some ({ loc = accepted; _ }, if_accepted),
        Some ({ loc = refused; _ }, if_refused) ) ->
        let accepted = accepted.loc_start.pos_cnum
        and refused = refused.loc_start.pos_cnum in
        if accepted < refused then
          replace e
            (between (start e) accepted
            ^ "accepted = " ^ slice if_refused
            ^ between (stop if_accepted) refused
            ^ "refused = " ^ slice if_accepted
            ^ between (stop if_refused) (stop e))
            "accepted and refused exchanged";
        not_resumed state if_accepted "not resumed";
        not_resumed state if_refused "skipped"
    | _ -> ()
  in
  let step e { Location.loc; _ } argument =
    let constructor = between loc.loc_start.pos_cnum loc.loc_end.pos_cnum in
    let is name =
      constructor = name || String.ends_with ~suffix:("." ^ name) constructor
    in
    match (argument.pexp_desc, parts argument) with
    | Pexp_record (fields, None), _ when is "Hand_over" ->
        hand_over e constructor fields
    | Pexp_tuple _, [ state; _ ] when is "Become" ->
        let return = beside constructor "Return" in
        replace e
          (Printf.sprintf "(%s (%s, %s))" return (slice state) nothing)
          "Return for Become"
    | _ when is "Then" -> replace e (finished constructor) "left out"
    | _ when is "Done" ->
        replace e (beside constructor "Again") "Again for Done"
    | _ -> ()
  in
  let constant e =
    let written = name e in
    match String.split_on_char '.' written with
    | [ "Again" ] | [ "Step"; "Again" ] ->
        replace e (finished written) "Done for Again"
    | [ "finished" ] | [ "Step"; "finished" ] ->
        replace e (beside written "Again") "Again for finished"
    | _ -> ()
  in
  let expr (self : Ast_iterator.iterator) e =
    let arguments args = List.iter (fun (_, arg) -> self.expr self arg) args in
    let all_of_it () = Ast_iterator.default_iterator.expr self e in
    match e.pexp_desc with
    | Pexp_assert _ -> ()
    | Pexp_ifthenelse (c, branch, otherwise) ->
        condition c;
        (* If the condition is a [compare_and_set], leaving out the branch would be the same
           fault as the contrary answer. *)
        if otherwise = None && not (is_compare_and_set (without_not c)) then
          statement branch;
        all_of_it ()
    | Pexp_while (c, _) ->
        condition c;
        all_of_it ()
    | Pexp_sequence (a, b) ->
        statement a;
        last b;
        all_of_it ()
    | Pexp_let
        ( _,
          [ { pvb_pat = { ppat_desc = Ppat_construct _; _ }; pvb_expr; _ } ],
          _ ) ->
        statement pvb_expr;
        all_of_it ()
    | Pexp_apply (f, ([ (_, a); (_, b) ] as args))
      when stop a <= start f && stop f <= start b ->
        infix e f a b;
        arguments args
    | Pexp_apply (f, args) when is_compare_and_set e && name f <> "" ->
        answers e;
        arguments args
    | Pexp_apply
        ( f,
          [
            ( _,
              ( { pexp_desc = Pexp_apply (_, args); _ }
              | {
                  pexp_desc =
                    Pexp_constraint ({ pexp_desc = Pexp_apply (_, args); _ }, _);
                  _;
                } ) );
          ] )
      when name f = "ignore" ->
        (* its answer makes no difference *)
        arguments args
    | Pexp_apply (f, [ (_, waiters); _; _ ])
      when List.mem (name f) [ "Step.resume_all"; "resume_all" ] ->
        replace e
          ("("
          ^ between (start e) (start waiters)
          ^ "Waiters.empty"
          ^ between (stop waiters) (stop e)
          ^ ")")
          "nobody resumed";
        all_of_it ()
    | Pexp_construct (constructor, Some argument) ->
        step e constructor argument;
        all_of_it ()
    | Pexp_ident _ | Pexp_construct (_, None) ->
        if slice e = name e then constant e;
        let exchange instead = replace e instead (instead ^ " for " ^ name e) in
        if slice e = name e then Option.iter exchange (other (name e))
    | _ -> all_of_it ()
  in
  let case (self : Ast_iterator.iterator) c =
    Option.iter condition c.pc_guard;
    Ast_iterator.default_iterator.case self c
  in
  let iterator = { Ast_iterator.default_iterator with expr; case } in
  iterator.structure iterator (Parse.implementation (lexbuf source));
  List.sort_uniq compare !found
