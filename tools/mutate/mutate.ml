(* ./dev mutate: makes small faults in files of the library, one by one, in a copy of the
   project. It prints the faults that no test notices. Its standard input is the list of
   tests. *)

let fail fmt =
  Format.kasprintf
    (fun message ->
      prerr_endline ("mutate: " ^ message);
      exit 2)
    fmt

type request = {
  root : string;
  list : bool;
  reach : Dependants.reach;
  verbose : bool;
  only : (int * int) option;
  sample : int option;
  files : string list;
}

let lines text =
  match List.map int_of_string_opt (String.split_on_char '-' text) with
  | [ Some line ] -> (line, line)
  | [ Some first; Some last ] when first <= last -> (first, last)
  | _ ->
      fail "--only: '%s' is neither a line (12) nor a range of lines (12-20)"
        text

let number text =
  match int_of_string_opt text with
  | Some n when n > 0 -> n
  | _ ->
      fail "--sample: '%s' is not a positive number of faults (for example 20)"
        text

let rec request r = function
  | "--root" :: root :: rest -> request { r with root } rest
  | "--list" :: rest -> request { r with list = true } rest
  | "--own" :: rest -> request { r with reach = Own } rest
  | "--near" :: rest -> request { r with reach = Near } rest
  | "--verbose" :: rest -> request { r with verbose = true } rest
  | [ "--only" ] -> fail "--only needs a line, for example --only 12"
  | "--only" :: text :: rest -> request { r with only = Some (lines text) } rest
  | [ "--sample" ] ->
      fail "--sample needs a number of faults, for example --sample 20"
  | "--sample" :: text :: rest ->
      request { r with sample = Some (number text) } rest
  | option :: _ when String.starts_with ~prefix:"-" option ->
      fail
        "unknown option '%s'. The options are --list, --near, --only LINE, \
         --own, --sample NUMBER and --verbose"
        option
  | file :: rest -> request { r with files = r.files @ [ file ] } rest
  | [] -> r

let read file = In_channel.with_open_bin file In_channel.input_all

let write file text =
  Out_channel.with_open_bin file (fun oc -> output_string oc text)

(* The path of [file] from the root of the project. *)
let from_root root file =
  let path =
    match List.find_opt Sys.file_exists [ file; Filename.concat root file ] with
    | Some path -> Unix.realpath path
    | None ->
        fail
          "there is no file '%s'. Name a file of the library, for example \
           lib/structures/latch.ml"
          file
  in
  let prefix = root ^ "/" in
  if not (String.starts_with ~prefix path && Filename.check_suffix path ".ml")
  then
    fail
      "'%s' is not an .ml file of %s. Name a file of the library, for example \
       lib/structures/latch.ml"
      file root;
  let n = String.length prefix in
  String.sub path n (String.length path - n)

(* At most [n] of the elements, at equal distances. *)
let spread n all =
  let total = List.length all in
  let is_chosen i = (i + 1) * n / total > i * n / total in
  if n >= total then all else List.filteri (fun i _ -> is_chosen i) all

let faults { only; sample; _ } file =
  let source = read file in
  let wanted (fault : Mutation.t) =
    match only with
    | None -> true
    | Some (first, last) -> first <= fault.line && fault.line <= last
  in
  match Mutation.all source with
  | all ->
      let all = List.filter wanted all in
      Option.fold sample ~none:all ~some:(fun n -> spread n all)
  | exception _ ->
      fail
        "'%s' does not parse as OCaml (files that need a preprocessor are not \
         supported)"
        file

let pp_fault file ppf (fault : Mutation.t) =
  Format.fprintf ppf "%s:%d: %a" file fault.line (Mutation.pp (read file)) fault

(* A stage has tests and a time limit in seconds. The limit is several times the duration
   without a fault, because a fault may make a test wait forever. *)
type stage = { tests : Dependants.test list; limit : int Lazy.t }

let stage file source tests =
  let measured () =
    write file source;
    let built = Copy.build ~cache:"enabled" tests in
    let start = Unix.gettimeofday () in
    if built <> Copy.Passed || Copy.run ~limit:600 tests <> Passed then begin
      prerr_string (Copy.printed ());
      fail "the tests of %s fail, or take ten minutes, even without a fault"
        file
    end;
    5 + int_of_float (3. *. (Unix.gettimeofday () -. start))
  in
  { tests; limit = Lazy.from_fun measured }

type verdict = Does_not_compile | Noticed | Hangs | Survives

let in_words = function
  | Does_not_compile -> "does not compile"
  | Noticed -> "noticed"
  | Hangs -> "a test hangs"
  | Survives -> "survives"

let rec verdict file mutant = function
  | [] -> Survives
  | { tests; limit } :: later -> (
      let limit = Lazy.force limit in
      write file mutant;
      if Copy.build tests <> Passed then Does_not_compile
      else
        match Copy.run ~limit tests with
        | Failed -> Noticed
        | Too_long -> Hangs
        | Passed -> verdict file mutant later)

let names stage =
  String.concat " " (List.map (fun { Dependants.name; _ } -> name) stage)

(* Returns [true] if the tests notice all faults. *)
let try_all tests ({ reach; verbose; _ } as request) file =
  let source = read file in
  match (faults request file, Dependants.stages reach tests file) with
  | [], _ -> true
  | faults, [] ->
      Format.printf "%s: %d faults, but no test names this file@." file
        (List.length faults);
      false
  | faults, stages ->
      let total = List.length faults in
      Format.eprintf "%s: %d faults, tried with %s@." file total
        (String.concat ", then " (List.map names stages));
      let stages = List.map (stage file source) stages in
      let terminal = Unix.isatty Unix.stderr in
      let try_one i fault =
        if terminal then Printf.eprintf "\r%d of %d \r%!" (i + 1) total;
        let verdict = verdict file (Mutation.apply source fault) stages in
        write file source;
        if verbose then
          Format.printf "%a: %s@." (pp_fault file) fault (in_words verdict)
        else if verdict = Survives then
          Format.printf "%a@." (pp_fault file) fault;
        verdict
      in
      let verdicts = List.mapi try_one faults in
      let count v = List.length (List.filter (( = ) v) verdicts) in
      Format.printf
        "%s: %d noticed, %d of them because a test hangs. %d survive. %d do \
         not compile@."
        file
        (count Noticed + count Hangs)
        (count Hangs) (count Survives) (count Does_not_compile);
      count Survives = 0

let () =
  let ({ root; list; only; files; _ } as request) =
    request
      {
        root = Sys.getcwd ();
        list = false;
        reach = All;
        verbose = false;
        only = None;
        sample = None;
        files = [];
      }
      (List.tl (Array.to_list Sys.argv))
  in
  let files = List.map (from_root root) files in
  Sys.chdir root;
  let files =
    if files <> [] then files
    else
      List.concat_map Dependants.sources
        (List.filter Sys.file_exists
           [ "lib"; "testkit"; "generator"; "schedulers"; "adapters" ])
  in
  let possible =
    List.concat_map
      (fun file -> List.map (fun fault -> (file, fault)) (faults request file))
      files
  in
  if possible = [] then begin
    Option.iter
      (fun (first, last) ->
        fail "--only: no fault can be made on lines %d to %d (--list shows all)"
          first last)
      only;
    fail "no fault can be made in %s" (String.concat ", " files)
  end;
  if list then
    List.iter
      (fun (file, fault) -> Format.printf "%a@." (pp_fault file) fault)
      possible
  else begin
    let tests = Dependants.read stdin in
    (try Copy.enter root with Failure why | Sys_error why -> fail "%s" why);
    (* Tries all files, even after a fault has survived. *)
    let clean = List.map (try_all tests request) files in
    exit (if List.for_all Fun.id clean then 0 else 1)
  end
