(* doc/rules.mld says once what holds for all structures. An interface says only what differs, so
   its paragraphs on cancellation, order and cost must not repeat each other. *)

let labels = [ "Cancelled"; "Order"; "Cost" ]

(* Those of today: a few words each, or sentences about functions that two adapters share. *)
let allowed = 19

(* --- The paragraphs ------------------------------------------------------------ *)

let start = Str.regexp "- {b \\([A-Z][a-z]+\\)[^}]*}"
let stop = Str.regexp "\n *\n\\|\n *- \\|\\*)"

(* Names differ between structures that say the same. *)
let names = Str.regexp "\\[[^]]*\\]\\|{![^}]*}"
let is_word word = word <> ""

let words text =
  Str.global_replace names "NAME" text
  |> String.lowercase_ascii
  |> Str.split (Str.regexp "[^a-z0-9']+")
  |> List.filter is_word |> List.sort_uniq compare

type found = {
  file : string;
  label : string;
  text : string;
  words : string list;
}

let paragraphs file =
  let text = In_channel.with_open_bin file In_channel.input_all in
  let rec from i =
    match Str.search_forward start text i with
    | exception Not_found -> []
    | _ ->
        let label = Str.matched_group 1 text and first = Str.match_end () in
        let last = Str.search_forward stop text first in
        let text = String.sub text first (last - first) in
        let rest = from last in
        if List.mem label labels then
          { file; label; text; words = words text } :: rest
        else rest
  in
  from 0

(* --- Which are alike ----------------------------------------------------------- *)

(* Of the words of both, four fifths are in both. *)
let are_alike a b =
  a.label = b.label
  &&
  let both = List.length (List.filter (fun w -> List.mem w b.words) a.words) in
  let all = List.length a.words + List.length b.words - both in
  5 * both >= 4 * all

let repeated paragraphs =
  let rec go seen = function
    | [] -> []
    | p :: rest -> (
        match List.find_opt (are_alike p) seen with
        | Some first -> (first, p) :: go seen rest
        | None -> go (p :: seen) rest)
  in
  go [] paragraphs

let line text = Str.global_replace (Str.regexp "[ \n]+") " " text

(* The library in lib/frozen has copies, such as concord__Event.mli. *)
let is_copy file =
  String.starts_with ~prefix:"concord__" (Filename.basename file)

let are_few () =
  let files =
    Array.to_list Sys.argv
    |> List.filter (fun file ->
        String.ends_with ~suffix:".mli" file && not (is_copy file))
  in
  let all = List.concat_map paragraphs files in
  if List.length all < 100 then
    Alcotest.failf "only %d paragraphs are found" (List.length all);
  let repeated = repeated all in
  if List.length repeated > allowed then begin
    List.iter
      (fun (first, again) ->
        Printf.printf "%s, as in %s: {b %s} %s\n" again.file first.file
          again.label (line again.text))
      repeated;
    Alcotest.failf
      "%d paragraphs repeat another one, of at most %d. If all structures do \
       the same, doc/rules.mld says it"
      (List.length repeated) allowed
  end

let () =
  Alcotest.run ~argv:[| "repeated" |] "Repeated paragraphs"
    [ ("interfaces", [ Alcotest.test_case "say what differs" `Quick are_few ]) ]
