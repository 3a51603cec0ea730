type test = { folder : string; name : string; alias : string }

module Names = Set.Make (String)

let rec read ic =
  match In_channel.input_line ic with
  | None -> []
  | Some line -> (
      match String.split_on_char ' ' line with
      | [ folder; name; alias ] -> { folder; name; alias } :: read ic
      | _ -> failwith ("not a test: " ^ line))

(* Every .ml file below [folder], except those in the folders of dune and git. *)
let rec sources folder =
  List.concat_map
    (fun entry ->
      let path = Filename.concat folder entry in
      if List.mem entry.[0] [ '_'; '.' ] then []
      else if Sys.is_directory path then sources path
      else if Filename.check_suffix path ".ml" then [ path ]
      else [])
    (List.sort String.compare (Array.to_list (Sys.readdir folder)))

let module_of path =
  String.capitalize_ascii (Filename.remove_extension (Filename.basename path))

let contents path = In_channel.with_open_bin path In_channel.input_all

let named path =
  match Mutation.modules (contents path) with
  | names -> Names.of_list names
  | exception _ -> Names.empty (* not OCaml's own syntax *)

let meet a b = not (Names.disjoint a b)

(* The file of a program. If the program is copied from another folder, it is the file of that
   name. *)
let main files { folder; name; _ } =
  let file = name ^ ".ml" in
  let here = Filename.concat folder file in
  if List.mem here files then Some here
  else List.find_opt (fun path -> Filename.basename path = file) files

(* The names that a program uses, including those in the files of its folder that it names, and
   in the folders of test/support, which have cases and hosts. (The files directly in
   test/support serve all tests.) These files are not the library's, even if they have the name
   of one of its modules. *)
let program files test =
  let beside path name =
    let file = String.uncapitalize_ascii name ^ ".ml" in
    let here = Filename.concat (Filename.dirname path) file in
    let shared path =
      Filename.basename path = file
      && String.starts_with ~prefix:"test/support/" (Filename.dirname path)
    in
    if List.mem here files then Some here else List.find_opt shared files
  in
  let rec go read names = function
    | [] -> names
    | path :: rest when Names.mem path read -> go read names rest
    | path :: rest ->
        let local, others =
          Names.partition (fun name -> beside path name <> None) (named path)
        in
        go (Names.add path read) (Names.union names others)
          (List.filter_map (beside path) (Names.elements local) @ rest)
  in
  go Names.empty Names.empty (Option.to_list (main files test))

(* [file], the files that name it, the files that name one of these, and so on. *)
let levels file =
  let library =
    List.concat_map sources
      (List.filter Sys.file_exists
         [ "lib"; "testkit"; "generator"; "schedulers"; "adapters"; "ppx" ])
    |> List.filter (fun path -> not (Mutation.is_index (contents path)))
    |> List.map (fun path -> (module_of path, named path))
  in
  let rec go known level =
    if Names.is_empty level then []
    else
      let known = Names.union known level in
      let next =
        List.filter_map
          (fun (name, names) ->
            if meet names level && not (Names.mem name known) then Some name
            else None)
          library
      in
      level :: go known (Names.of_list next)
  in
  go Names.empty (Names.singleton (module_of file))

(* The part after the first underscore. For example, test_mvar and model_mvar are named after
   lib/structures/mvar.ml. *)
let is_named_after modules { name; _ } =
  match String.index_opt name '_' with
  | None -> false
  | Some i ->
      let file = String.sub name (i + 1) (String.length name - i - 1) in
      Names.mem (String.capitalize_ascii file) modules

(* A program in such a folder compares each structure with its description, or each step with
   lists. *)
let compares_all { folder; _ } =
  List.mem (Filename.basename folder) [ "described"; "steps" ]

(* Linking an adapter is enough, so its tests need not name it. They have a word of its name,
   or are in a folder of that name, for example test_eio_domain and test/lwt. *)
let adapter file =
  match String.split_on_char '/' file with
  | "adapters" :: name :: _ -> Some name
  | _ -> None

let is_of adapter { folder; name; _ } =
  List.mem adapter
    (String.split_on_char '/' folder @ String.split_on_char '_' name)

let links adapter { folder; _ } =
  let library = "concord-" ^ adapter in
  match contents (Filename.concat folder "dune") with
  | dune ->
      List.mem library
        (String.split_on_char ' '
           (String.map (function '\n' | ')' -> ' ' | c -> c) dune))
  | exception Sys_error _ -> false

let kind { folder; alias; _ } =
  match String.split_on_char '/' folder with
  | "test" :: ("stress" | "matrix") :: _ -> None
  | "test" :: ("model" | "lin") :: _ -> Some `Long
  | "test" :: _
    when String.starts_with ~prefix:("@" ^ folder ^ "/runtest-") alias ->
      Some `Short
  | _ -> None

type reach = Own | Near | All

let stages reach tests file =
  let files = sources "test" in
  let tests =
    List.filter_map
      (fun test ->
        Option.map (fun kind -> (test, kind, program files test)) (kind test))
      tests
  in
  let of_kind kind tests =
    List.filter_map
      (fun (test, k, _) -> if k = kind then Some test else None)
      tests
  in
  let rec go tests = function
    | [] -> []
    | belongs :: later ->
        let now, rest = List.partition belongs tests in
        of_kind `Short now :: of_kind `Long now :: go rest later
  in
  let levels = levels file in
  let names_one_of level (_, _, names) = meet names level in
  (* If no test is named after the file, the tests that are named after files which use it. *)
  let owner =
    List.find_opt
      (fun level ->
        List.exists (fun (test, _, _) -> is_named_after level test) tests)
      levels
  in
  let is_own (test, _, _) =
    Option.fold owner ~none:false ~some:(fun level -> is_named_after level test)
  and compares_it ((test, _, _) as depends) =
    compares_all test
    && List.exists (fun level -> names_one_of level depends) levels
  in
  let own, near =
    match adapter file with
    | None ->
        ( (fun test -> is_own test || compares_it test),
          names_one_of (List.hd levels) )
    | Some adapter ->
        ( (fun (test, _, _) -> is_of adapter test),
          fun (test, _, _) -> links adapter test )
  in
  let further =
    match reach with
    | Own -> []
    | Near -> [ near ]
    | All -> near :: List.map names_one_of levels
  in
  go tests (own :: further) |> List.filter (( <> ) [])
