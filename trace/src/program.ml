let is_program path =
  match Unix.stat path with
  | { st_kind = S_REG; _ } -> (
      match Unix.access path [ X_OK ] with
      | () -> true
      | exception Unix.Unix_error _ -> false)
  | _ | (exception Unix.Unix_error _) -> false

let find program =
  let path = Option.value (Sys.getenv_opt "PATH") ~default:"/bin:/usr/bin" in
  let candidates =
    if String.contains program '/' then [ program ]
    else
      List.map
        (fun folder ->
          Filename.concat (if folder = "" then "." else folder) program)
        (String.split_on_char ':' path)
  in
  match List.find_opt is_program candidates with
  | Some path -> path
  | None when String.contains program '/' && Sys.file_exists program ->
      failwith (program ^ " is not an executable file")
  | None -> failwith ("there is no program " ^ program)

let joined separator before added =
  match before with
  | None | Some "" -> added
  | Some before -> before ^ separator ^ added

(* Rings have 2^18 words for each domain, unless the user has set a size. *)
let runtime_parameters () =
  let before = Sys.getenv_opt "OCAMLRUNPARAM" in
  let is_size word = String.starts_with ~prefix:"e=" word in
  match before with
  | Some words when List.exists is_size (String.split_on_char ',' words) ->
      words
  | _ -> joined "," before "e=18"

let environment folder =
  let set =
    [
      ("CONCORD_DEBUG", joined "," (Sys.getenv_opt "CONCORD_DEBUG") "trace");
      ("OCAML_RUNTIME_EVENTS_START", "1");
      ("OCAML_RUNTIME_EVENTS_DIR", folder);
      ("OCAML_RUNTIME_EVENTS_PRESERVE", "1");
      ("OCAMLRUNPARAM", runtime_parameters ());
    ]
  in
  let is_other binding =
    not
      (List.exists
         (fun (name, _) -> String.starts_with ~prefix:(name ^ "=") binding)
         set)
  in
  let others = List.filter is_other (Array.to_list (Unix.environment ())) in
  Array.of_list (others @ List.map (fun (name, v) -> name ^ "=" ^ v) set)
