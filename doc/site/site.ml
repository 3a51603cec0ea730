(* Makes one folder of HTML from all pages and interfaces. Any static host can serve it.

   Dune has compiled the documentation for odoc. Dune's own alias @doc links a page only with
   the packages that its own package depends on. Here every page may refer to every package, as
   on OCaml's site: {!Concord_aio} is a module, and {!/concord/tutorial} is a page. Odoc writes
   the content of each page, and [Template] puts it into the frame of this site.

   The arguments are the folder to make, the version to show, the address of the repository to
   link to or an empty one, the address that the site will have or an empty one, and NAME=FOLDER for the pages of
   each package and the modules of each library. If a library is not built, because the library
   that it adapts is not installed, it has no folder. A reference to its module is then no
   link. Every other reference that leads nowhere is an error. *)

let fail fmt =
  Printf.ksprintf
    (fun text ->
      prerr_endline ("site: " ^ text);
      exit 1)
    fmt

let ( / ) = Filename.concat

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

let package part = List.hd (String.split_on_char '.' part.name)
let is_page file = String.starts_with ~prefix:"page-" file

(* A module of a library that dune wraps. It is shown where the main module includes it. *)
let is_hidden file =
  let rec has_two_from i =
    match String.index_from_opt file i '_' with
    | None -> false
    | Some i -> file.[i + 1] = '_' || has_two_from (i + 1)
  in
  has_two_from 0

(* --- Odoc ------------------------------------------------------------------- *)

let odoc arguments =
  let output = "odoc.output" in
  let command =
    Filename.quote_command "odoc" arguments ~stdout:output ~stderr:output
  in
  let code = Sys.command command in
  let said = Files.read output in
  if code <> 0 then
    fail "odoc %s: exit code %d: %s" (List.hd arguments) code said;
  said

(* [Event.simple], which the pages leave out, mentions a type that odoc can't name. *)
let is_about_hidden line =
  List.exists
    (fun index ->
      let suffix = "Hidden constructors in type '" ^ index ^ ".Event.simple'" in
      String.ends_with ~suffix line)
    [ "Concord"; "Concord_core" ]

(* Odoc prints the position of a reference in one line, and the fault in the next line. *)
let faults ~absent said =
  let is_about line module_ =
    String.ends_with ~suffix:(Printf.sprintf "unresolvedroot(%s)" module_) line
  in
  let rec lines = function
    | place :: what :: rest when String.starts_with ~prefix:"File " place ->
        if is_about_hidden what || List.exists (is_about what) absent then
          lines rest
        else (place ^ " " ^ what) :: lines rest
    | [] | [ "" ] -> []
    | line :: rest -> line :: lines rest
  in
  lines (String.split_on_char '\n' said)

let root part =
  let kind = if List.exists is_page part.compiled then "-P" else "-L" in
  [ kind; part.name ^ ":" ^ part.folder ]

(* Returns the names of the linked pages and modules, and the faults. *)
let link_all parts =
  let built, absent = List.partition (fun part -> part.compiled <> []) parts in
  let module_of { folder; _ } =
    String.capitalize_ascii (Filename.basename folder)
  in
  let absent = List.map module_of absent in
  let roots = List.concat_map root built in
  let link part file =
    let linked = "linked" / part.name / (file ^ "l") in
    let said =
      odoc
        ([ "link"; part.folder / file; "-o"; linked ]
        @ [ "--current-package"; package part ]
        @ roots)
    in
    (linked, faults ~absent said)
  in
  let shown part =
    List.filter (fun file -> not (is_hidden file)) part.compiled
    |> List.map (link part)
  in
  let linked, faults = List.split (List.concat_map shown built) in
  (linked, List.concat faults)

(* --- The site --------------------------------------------------------------- *)

let make ~output ~version ~repository ~address parts =
  let linked, faults = link_all parts in
  if faults <> [] then fail "%s" (String.concat "\n" faults);
  let generate file =
    ignore (odoc [ "html-generate"; "--as-json"; file; "-o"; "json" ] : string)
  in
  List.iter generate linked;
  ignore
    (odoc ([ "compile-index"; "--json"; "-o"; "index.json" ] @ linked) : string);
  ignore (odoc [ "support-files"; "-o"; "support" ] : string);
  let pages = List.map (Page.read ~root:"json") (Files.all "json" ".json") in
  let picture = ".." / "diagrams" / Social.picture in
  let has_picture = Sys.file_exists picture in
  let social = Social.tags ~address ~has_picture in
  let frame = Template.frame ~version ~repository ~social pages in
  List.iter
    (fun page -> Files.write (output / Page.url page) (frame (Page page)))
    pages;
  Files.write (output / "index.html") (frame Landing);
  Files.write (output / "search.js")
    (Entries.script ~index:(Files.read "index.json")
       ~synonyms:(Files.read "synonyms.txt")
       pages);
  let copy_to folder from name =
    Files.write (folder / name) (Files.read (from / name))
  in
  let copy = copy_to output in
  copy "." "site.css";
  copy "." "site.js";
  copy "." "favicon.svg";
  copy "support" "highlight.pack.js";
  if has_picture then copy (Filename.dirname picture) Social.picture;
  (* Pictures, and programs that pages offer for download. *)
  List.iter
    (fun (folder, extension) ->
      List.iter
        (fun file -> copy_to (output / "concord" / folder) (".." / folder) file)
        (List.filter
           (fun file -> Filename.basename file = file)
           (Files.all (".." / folder) extension)))
    [ ("diagrams", ".svg"); ("tutorial", ".ml") ]

let () =
  match Array.to_list Sys.argv with
  | _ :: output :: version :: repository :: address :: (_ :: _ as words) ->
      let unless_empty text = if text = "" then None else Some text in
      let repository = unless_empty repository in
      let address = unless_empty address in
      make ~output ~version ~repository ~address (List.map part words)
  | _ -> fail "usage: site FOLDER VERSION REPOSITORY ADDRESS NAME=FOLDER..."
