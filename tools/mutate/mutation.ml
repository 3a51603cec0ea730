open Parsetree

type t = { start : int; stop : int; text : string; line : int; what : string }

let apply source { start; stop; text; _ } =
  String.sub source 0 start ^ text
  ^ String.sub source stop (String.length source - stop)

(* On one line, and not longer than is needed to recognise it. *)
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

(* The name of a value or a constructor, as it is written. *)
let name e =
  match e.pexp_desc with
  | Pexp_ident { txt; _ } | Pexp_construct ({ txt; _ }, None) ->
      String.concat "." (Longident.flatten txt)
  | _ -> ""

(* Both names of each are of the same kind: infix, or a value. *)
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
  (* What [=] or [==] compares is negated there, and what [compare_and_set]
     answers is replaced there. *)
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
  (* Of an [if], the branch is what is dropped. *)
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
  let expr (self : Ast_iterator.iterator) e =
    let arguments args = List.iter (fun (_, arg) -> self.expr self arg) args in
    let all_of_it () = Ast_iterator.default_iterator.expr self e in
    match e.pexp_desc with
    | Pexp_assert _ -> ()
    | Pexp_ifthenelse (c, branch, otherwise) ->
        condition c;
        (* Otherwise it is as if [compare_and_set] answered the contrary. *)
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
        (* what it answers makes no difference *)
        arguments args
    | Pexp_ident _ | Pexp_construct (_, None) ->
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
