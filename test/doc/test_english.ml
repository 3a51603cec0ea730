(* Counts three habits that make English sound translated, in the prose of all pages, READMEs and
   public interfaces: many "that", sentences that begin with "So", and genitives in place of
   compounds ("a promise of Lwt", not "an Lwt promise"). Code, tables and headings don't count. *)

(* --- Prose --- *)

(* Each function below replaces text by as many characters, and keeps line breaks, so the line of a
   sentence can still be counted. *)

let blank = String.map (function '\n' -> '\n' | _ -> ' ')

(* The first [word] in place of the text, which may be longer. *)
let fill word text =
  String.mapi
    (fun i c ->
      if c = '\n' then c else if i < String.length word then word.[i] else ' ')
    text

let replace regexp f text =
  Str.global_substitute (Str.regexp regexp)
    (fun text -> f (Str.matched_string text))
    text

(* Blanks from each [first] to the next [last]. *)
let cut first last text =
  let buffer = Buffer.create (String.length text) in
  let find regexp i =
    try Str.search_forward regexp text i with Not_found -> -1
  in
  let first = Str.regexp first and last = Str.regexp last in
  let rec from i =
    let j = find first i in
    let k = if j < 0 then -1 else find last (Str.match_end ()) in
    if k < 0 then Buffer.add_substring buffer text i (String.length text - i)
    else
      let stop = Str.match_end () in
      Buffer.add_substring buffer text i (j - i);
      Buffer.add_string buffer (blank (String.sub text j (stop - j)));
      from stop
  in
  from 0;
  Buffer.contents buffer

(* Everything outside of comments that begin with two stars. *)
let code_blanked text =
  let out = Bytes.of_string (blank text) and length = String.length text in
  let at i s = i + 2 <= length && String.sub text i 2 = s in
  let rec outside i =
    if i < length then
      if
        at i "(*" && i + 3 < length && text.[i + 2] = '*' && text.[i + 3] <> '/'
      then inside (i + 3) 1
      else if at i "(*" then inner (i + 2) 1
      else outside (i + 1)
  and inside i depth =
    if i < length then
      if at i "*)" then
        if depth = 1 then outside (i + 2) else inside (i + 2) (depth - 1)
      else (
        Bytes.set out i text.[i];
        inside (i + 1) (if at i "(*" then depth + 1 else depth))
  and inner i depth =
    if i < length then
      if at i "*)" then
        if depth = 1 then outside (i + 2) else inner (i + 2) (depth - 1)
      else inner (i + 1) (if at i "(*" then depth + 1 else depth)
  in
  outside 0;
  Bytes.to_string out

let odoc text =
  text |> cut "{%" "%}" |> cut "{@[^[\n]*\\[" "\\]}" |> cut "{\\[" "\\]}"
  |> cut "{v " "v}"
  |> replace "{[0-9][^ ]* .*" blank
  |> replace "^[ ]*|.*" blank
  |> replace "{![^{}]*}" (fill "CODE")
  |> replace "\\[[^][]*\\]" (fill "CODE")
  |> replace "{{[!:][^{}]*}" blank
  |> replace "{[a-z-]* " blank |> replace "}" blank
  |> replace "^[ ]*@[a-z]+ *[A-Za-z_.]*" blank

let markdown text =
  text |> cut "<!--" "-->" |> cut "^[ ]*```" "^[ ]*```" |> replace "^#.*" blank
  |> replace "^[ ]*|.*" blank
  |> replace "`[^`\n]*`" (fill "CODE")
  |> replace "](\\([^)]*\\))" blank
  |> replace "\\*\\*" blank

let prose name text =
  match Filename.extension name with
  | ".mli" -> odoc (code_blanked text)
  | ".mld" -> odoc text
  | _ -> markdown text

(* --- Sentences --- *)

let words sentence =
  List.length (Str.split (Str.regexp "[^A-Za-z'’-]+") sentence)

(* The sentences of [text], each with its line. *)
let sentences text =
  let stop =
    Str.regexp "[.!?][\")]*[ \n]+\\|\n[ ]*\n\\|\n[ ]*\\([-*+]\\|[0-9]+\\.\\) "
  in
  let line_of =
    let line = ref 1 and seen = ref 0 in
    fun i ->
      for j = !seen to i - 1 do
        if text.[j] = '\n' then incr line
      done;
      seen := i;
      !line
  in
  let rec from i found =
    let next, last =
      match Str.search_forward stop text i with
      | j -> (Str.match_end (), j + 1)
      | exception Not_found -> (String.length text, String.length text)
    in
    let sentence = String.sub text i (last - i) in
    let skipped =
      match Str.search_forward (Str.regexp "[^ \n]") sentence 0 with
      | k -> k
      | exception Not_found -> 0
    in
    let found =
      if words sentence < 2 then found
      else
        let line = line_of (i + skipped) in
        ( line,
          Str.global_replace (Str.regexp "[ \n]+") " " (String.trim sentence) )
        :: found
    in
    if next >= String.length text then List.rev found else from next found
  in
  from 0 []

(* --- Habits --- *)

let library =
  "\\(Concord\\|Lwt\\|Eio\\|Async\\|Picos\\|Miou\\|Moonpool\\|Domainslib\\|Stdlib\\|OCaml\\)"

type habit = {
  name : string;
  regexp : string;
  case : bool;
  per_thousand : float;
  of_sentences : bool;  (** Or of words. *)
  at_least : int;  (** So many are allowed in any file. *)
}

let that =
  {
    name = "\"that\"";
    regexp = "\\bthat\\b";
    case = false;
    per_thousand = 14.;
    of_sentences = false;
    at_least = 3;
  }

let so =
  {
    name = "sentences that begin with \"So\"";
    regexp = "^[(\"]*So\\b";
    case = true;
    per_thousand = 6.;
    of_sentences = true;
    at_least = 1;
  }

let genitive =
  {
    name = "genitives in place of compounds";
    regexp =
      "\\b[a-z]+ of " ^ library ^ "\\([^'A-Za-z_.]\\|\\.?$\\)"
      ^ "\\|\\b\\(job\\|task\\|worker\\|domain\\|thread\\)s? of \
         \\(a\\|the\\|its\\) \\(pool\\|loop\\|scheduler\\)\\b";
    case = true;
    per_thousand = 1.5;
    of_sentences = false;
    at_least = 1;
  }

let count regexp text =
  let rec from i n =
    match Str.search_forward regexp text i with
    | _ -> from (max (i + 1) (Str.match_end ())) (n + 1)
    | exception Not_found -> n
  in
  from 0 0

(* How often [habit] occurs in [text], how often it may, and the sentences. *)
let found habit text =
  let regexp =
    (if habit.case then Str.regexp else Str.regexp_case_fold) habit.regexp
  in
  let all = sentences text in
  let with_it =
    List.filter_map
      (fun (line, sentence) ->
        match count regexp sentence with
        | 0 -> None
        | n -> Some (n, line, sentence))
      all
  in
  let sum f list = List.fold_left (fun n x -> n + f x) 0 list in
  let size =
    if habit.of_sentences then List.length all
    else sum (fun (_, sentence) -> words sentence) all
  in
  let allowed =
    Float.to_int (habit.per_thousand *. Float.of_int size /. 1000.)
  in
  (sum (fun (n, _, _) -> n) with_it, max habit.at_least allowed, with_it)

(* --- The files --- *)

let read file = In_channel.with_open_bin file In_channel.input_all

(* The name in the repository of an argument. *)
let rec name path =
  if String.starts_with ~prefix:"../" path then
    name (String.sub path 3 (String.length path - 3))
  else path

(* Interfaces that odoc shows, in folders without a list of them. [lib/frozen] has copies. *)
let is_public name =
  let base = Filename.basename name in
  List.exists
    (fun folder -> String.starts_with ~prefix:(folder ^ "/") name)
    [
      "buffered";
      "lib/debug";
      "lib/events";
      "lib/service";
      "lib/structures";
      "lib/tasks";
    ]
  || String.starts_with ~prefix:"concord_" base
     && not (String.starts_with ~prefix:"concord__" base)

(* Each page, with its prose. *)
let pages =
  List.tl (Array.to_list Sys.argv)
  |> List.map (fun path -> (name path, path))
  |> List.filter (fun (name, _) ->
      Filename.extension name <> ".mli" || is_public name)
  |> List.map (fun (name, path) -> (name, prose name (read path)))

let check habit () =
  Alcotest.(check bool) "the pages are found" true (List.length pages > 100);
  let has_too_many (page, text) =
    let n, allowed, with_it = found habit text in
    n > allowed
    &&
    (Printf.printf "%s has %d %s, of which %d would do:\n" page n habit.name
       allowed;
     List.iter
       (fun (_, line, sentence) ->
         Printf.printf "  %s:%d: %s\n" page line sentence)
       with_it;
     true)
  in
  Alcotest.(check (list string))
    "pages with too many" []
    (List.map fst (List.filter has_too_many pages))

(* --- Whether it counts --- *)

let places habit name text =
  let _, _, with_it = found habit (prose name text) in
  List.map (fun (n, line, _) -> (n, line)) with_it

let test_counting () =
  let check = Alcotest.(check (list (pair int int))) in
  let page =
    "{0 A page that counts not}\n\n\
     The task that waits,\n\
     and that one. It is\n\
     that of Lwt. So it ends.\n\n\
     {[\n\
    \  that that\n\
     ]}\n\n\
     - An item of [that], a promise of Lwt.\n"
  in
  check "that" [ (2, 3); (1, 4) ] (places that "a.mld" page);
  check "so" [ (1, 5) ] (places so "a.mld" page);
  check "genitives" [ (1, 4); (1, 11) ] (places genitive "a.mld" page);
  check "a possessive is none" []
    (places genitive "a.mld"
       "One of Eio's structures, and a list of OCaml_names.");
  check "a pool's job"
    [ (1, 1) ]
    (places genitive "a.mld" "It is a job of the pool.");
  check "an interface"
    [ (1, 2) ]
    (places so "a.mli"
       "val so : unit\n(** The value. So it is. *)\n(* So not this. *)\n");
  check "Markdown"
    [ (1, 6) ]
    (places that "a.md"
       "# that\n\n```text\nthat\n```\nAll `that`, and that.\n| that |\n")

let () =
  Alcotest.run "English"
    ~argv:[| Sys.argv.(0) |]
    [
      ( "habits",
        Alcotest.test_case "counting" `Quick test_counting
        :: List.map
             (fun habit -> Alcotest.test_case habit.name `Quick (check habit))
             [ that; so; genitive ] );
    ]
