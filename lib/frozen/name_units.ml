(* Gives the modules of concord-core the names by which the compiler finds them in [Concord]. For
   example, lib/structures/mutex.ml becomes concord__Mutex.ml. There the other modules have such
   names too, so each file gets an alias for each of them that it names, which dune also needs to
   find the order. [Concord_core__] has all of these aliases, and the library concord opens it.

   The argument is the output of [ocamldep -modules] for the sources. *)

let lines file = In_channel.with_open_bin file In_channel.input_lines

(* For example "../structures/mutex.ml: Event Permits Step". *)
let source line =
  let colon = String.index line ':' in
  let after = String.sub line (colon + 1) (String.length line - colon - 1) in
  (String.sub line 0 colon, String.split_on_char ' ' after)

let sources = List.map source (lines Sys.argv.(1))

let module_of path =
  String.capitalize_ascii Filename.(remove_extension (basename path))

let ours = List.sort_uniq compare (List.map (fun (p, _) -> module_of p) sources)
let unit name = "Concord__" ^ name
let write file = Out_channel.with_open_bin file
let puts = Out_channel.output_string

(* A path as in messages of the compiler, which begins at the project's root. *)
let shown path = "lib/" ^ String.sub path 3 (String.length path - 3)

(* The first comment of an interface is the module's, so the aliases come after it. At its end odoc
   reads where it should show the module. *)
let rec split_comment name before = function
  | line :: rest when String.ends_with ~suffix:"*)" line ->
      let text = String.sub line 0 (String.length line - 2) in
      let canonical =
        Printf.sprintf "%s\n\n@canonical Concord.%s *)" text name
      in
      (* the blank line keeps it from being the first alias's comment *)
      (List.rev ("" :: canonical :: before), rest)
  | line :: rest -> split_comment name (line :: before) rest
  | [] -> failwith "an interface without a comment"

let write_unit (path, uses) =
  let name = module_of path in
  let is_interface = Filename.check_suffix path ".mli" in
  let equals = if is_interface then ":=" else "=" in
  let others = List.filter (fun m -> List.mem m ours && m <> name) uses in
  let comment, code =
    if is_interface then split_comment name [] (lines path) else ([], lines path)
  in
  let file = "concord__" ^ name ^ Filename.extension path in
  write file @@ fun out ->
  let put_from n text =
    Printf.fprintf out "# %d %S\n" n (shown path);
    List.iter (fun line -> puts out (line ^ "\n")) text
  in
  let hidden_from_odoc = if is_interface then "(**/**)\n\n" else "" in
  put_from 1 comment;
  puts out hidden_from_odoc;
  List.iter
    (fun m -> Printf.fprintf out "module %s %s %s\n" m equals (unit m))
    others;
  puts out ("\n" ^ hidden_from_odoc);
  put_from (List.length (lines path) - List.length code + 1) code

let () =
  List.iter write_unit sources;
  write "concord_core__.ml" @@ fun out ->
  List.iter (fun m -> Printf.fprintf out "module %s = %s\n" m (unit m)) ours
