(* Each public module says how stable it is, in the second paragraph of its interface, as
   {b Stability}: ... The index page of the documentation explains the words. An experimental
   module says why, and there are at most [most_experimental].

   The public modules are the main modules of the libraries ([Concord], [Concord_lwt], ...),
   and the modules that these contain under their own names, as [module Mutex = Mutex]. If
   nothing is promised about a module, nothing is about its modules.

   The arguments are the interfaces of all packages. *)

let mark = "{b Stability}: "
let words = [ "stable"; "experimental"; "none" ]
let read file = In_channel.with_open_bin file In_channel.input_all

(* This leaves out the copies that dune makes of interfaces after a rewriter, and those of
   lib/frozen. *)
let files =
  let is_copy file =
    Filename.check_suffix file ".pp.mli"
    || String.starts_with ~prefix:"../../lib/frozen/concord__" file
  in
  List.tl (Array.to_list Sys.argv)
  |> List.filter (fun file -> not (is_copy file))

let name_of file = Filename.(remove_extension (basename file))

let is_main file =
  let has prefix = String.starts_with ~prefix (name_of file) in
  has "concord" || has "ppx_concord"

(* For example, "../../lib/debug/debug.mli" belongs to "lib". *)
let package_of file = List.nth (String.split_on_char '/' file) 2

(* Files in several packages may have the same name, but not in lib/. *)
let interface_of ~beside name =
  let candidates =
    List.filter
      (fun file ->
        name_of file = String.uncapitalize_ascii name
        && package_of file = package_of beside)
      files
  in
  match candidates with
  | [ file ] -> Some file
  | [] | _ :: _ :: _ ->
      Faults.add "%s has a module %s: found %d interfaces of it" beside name
        (List.length candidates);
      None

let has_name_of_its_own line =
  match String.split_on_char ' ' (String.trim line) with
  | [ "module"; name; "="; name' ] when name = name' -> Some name
  | _ -> None

(* The library concord.fifo is the module Fifo of concord. *)
let included line =
  match String.split_on_char ' ' (String.trim line) with
  | [ "include"; name ] when String.starts_with ~prefix:"Concord__" name ->
      let prefix = String.length "Concord__" in
      Some (String.sub name prefix (String.length name - prefix))
  | _ -> None

let rec second_paragraph = function
  | "" :: lines ->
      let lines = Seq.take_while (( <> ) "") (List.to_seq lines) in
      String.concat " " (List.map String.trim (List.of_seq lines))
  | _ :: lines -> second_paragraph lines
  | [] -> ""

let says_word text word =
  List.mem word
    (String.split_on_char ' '
       (String.map (function 'a' .. 'z' as c -> c | _ -> ' ') text))

let promises_nothing lines = says_word (second_paragraph lines) "none"

let check_mark file lines =
  let first = List.hd lines and second = second_paragraph lines in
  if
    not
      (String.starts_with ~prefix:"(**" first
      && String.starts_with ~prefix:mark second)
  then
    Faults.add "the second paragraph of %s does not begin with \"%s\"" file mark
  else if not (List.exists (says_word second) words) then
    Faults.add "%s: \"%s\" has none of the words %s" file second
      (String.concat ", " words)

(* What a program or a library is likely to build on should be stable. *)
let most_experimental = 34
let experimental = ref 0

let count_experimental file lines =
  let text = second_paragraph lines in
  if says_word text "experimental" then begin
    incr experimental;
    if not (says_word text "because") then
      Faults.add "%s doesn't say why it is experimental" file
  end

let seen = Hashtbl.create 100

let rec look_at file =
  if not (Hashtbl.mem seen file) then begin
    Hashtbl.add seen file ();
    let lines = String.split_on_char '\n' (read file) in
    let look_at_module name =
      Option.iter look_at (interface_of ~beside:file name)
    in
    match List.filter_map included lines with
    | [] ->
        check_mark file lines;
        count_experimental file lines;
        if not (promises_nothing lines) then
          List.iter look_at_module (List.filter_map has_name_of_its_own lines)
    | parts -> List.iter look_at_module parts
  end

let () =
  List.iter look_at (List.filter is_main files);
  if Hashtbl.length seen < 60 then
    Faults.add "only %d public modules were found" (Hashtbl.length seen);
  if !experimental > most_experimental then
    Faults.add "%d modules are experimental, and %d were allowed" !experimental
      most_experimental;
  Faults.stop ()
