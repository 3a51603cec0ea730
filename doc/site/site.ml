(* Makes one folder of HTML of the documentation of all packages, from what dune has
   compiled for odoc. Dune's own alias @doc shows a page the packages that its own one
   depends on. Here each may refer to all of them, as on OCaml's site:
   {!Concord_aio} is a module, {!/concord/tutorial} a page.

   Arguments: the folder to make, and NAME=FOLDER for the pages of each package and the
   modules of each library. A library that is not built, because the one that it adapts
   is not installed, has no folder: a reference to its module is then no link. Every
   other reference that leads nowhere is an error. *)

let fail fmt =
  Printf.ksprintf
    (fun text ->
      prerr_endline ("site: " ^ text);
      exit 1)
    fmt

type part = { name : string; folder : string; compiled : string list }

let part word =
  match String.split_on_char '=' word with
  | [ name; folder ] ->
      let compiled =
        if Sys.file_exists folder then
          Sys.readdir folder |> Array.to_list |> List.sort compare
          |> List.filter (String.ends_with ~suffix:".odoc")
        else []
      in
      { name; folder; compiled }
  | _ -> fail "'%s' is not NAME=FOLDER" word

let is_page file = String.starts_with ~prefix:"page-" file

(* A module of a library that dune wraps: it is shown where the main module has it. *)
let is_hidden file =
  let rec has_two_from i =
    match String.index_from_opt file i '_' with
    | None -> false
    | Some i -> file.[i + 1] = '_' || has_two_from (i + 1)
  in
  has_two_from 0

let root { name; folder; compiled } =
  let kind = if List.exists is_page compiled then "-P" else "-L" in
  [ kind; name ^ ":" ^ folder ]

let odoc arguments =
  let output = "odoc.output" in
  let command =
    Filename.quote_command "odoc" arguments ~stdout:output ~stderr:output
  in
  let code = Sys.command command in
  let said = In_channel.with_open_bin output In_channel.input_all in
  if code <> 0 then
    fail "odoc %s: exit code %d: %s" (List.hd arguments) code said;
  said

(* Odoc says in two lines or three where a reference is, and which one it is. *)
let faults ~absent said =
  let is_about line module_ =
    String.ends_with ~suffix:(Printf.sprintf "unresolvedroot(%s)" module_) line
  in
  let rec lines = function
    | place :: what :: rest when String.starts_with ~prefix:"File " place ->
        if List.exists (is_about what) absent then lines rest
        else (place ^ " " ^ what) :: lines rest
    | [] | [ "" ] -> []
    | line :: rest -> line :: lines rest
  in
  lines (String.split_on_char '\n' said)

let first_page =
  {|<!DOCTYPE html>
<title>Concord</title>
<h1><a href="concord/index.html">The documentation of Concord</a></h1>
|}

let () =
  let output, parts =
    match Array.to_list Sys.argv with
    | _ :: output :: (_ :: _ as words) -> (output, List.map part words)
    | _ -> fail "which folder, and of what?"
  in
  let built, absent = List.partition (fun part -> part.compiled <> []) parts in
  let absent =
    List.map
      (fun { folder; _ } -> String.capitalize_ascii (Filename.basename folder))
      absent
  in
  let roots = List.concat_map root built in
  let link { name; folder; compiled } =
    let package = List.hd (String.split_on_char '.' name) in
    List.filter (fun file -> not (is_hidden file)) compiled
    |> List.concat_map (fun file ->
        let linked = file ^ "l" in
        let said =
          odoc
            ([ "link"; Filename.concat folder file; "-o"; linked ]
            @ [ "--current-package"; package ]
            @ roots)
        in
        ignore (odoc [ "html-generate"; linked; "-o"; output ] : string);
        faults ~absent said)
  in
  let faults = List.concat_map link built in
  ignore (odoc [ "support-files"; "-o"; output ] : string);
  Out_channel.with_open_bin (Filename.concat output "index.html") (fun index ->
      output_string index first_page);
  if faults <> [] then fail "%s" (String.concat "\n" faults)
