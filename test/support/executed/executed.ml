let fail fmt = Printf.ksprintf failwith fmt

(* Where the compiled interfaces of a library are. In [dune build -p PACKAGE], those of other
   packages are installed. dune's own folder, which Findlib searches first, lacks them then. *)
let directory root name =
  let compiled folder library =
    let has_it folder =
      Sys.file_exists (Printf.sprintf "%s/%s.cmi" folder library)
    and built = Printf.sprintf "%s/%s/.%s.objs/byte" root folder library
    and installed path =
      Filename.concat path (String.map (function '.' -> '/' | c -> c) name)
    in
    match
      List.find_opt has_it (built :: List.map installed (Findlib.search_path ()))
    with
    | Some folder -> folder
    | None -> fail "library %s is neither built nor installed" name
  in
  match name with
  | "concord" -> compiled "lib" "concord"
  | "concord-core" -> compiled "lib/frozen" "concord_core"
  | "concord-core.internal" -> compiled "lib/core" "concord__core"
  | "concord-suspend" -> compiled "lib/contract" "concord_suspend"
  | "concord.fifo" -> compiled "lib/fifo/library" "concord_fifo"
  | "concord-aio" -> compiled "aio" "concord_aio"
  | "concord-aio.dns" -> compiled "aio/dns" "concord_dns"
  | "concord-schedulers.policies" ->
      compiled "schedulers/policies" "concord_policies"
  | "concord-schedulers.styles" -> compiled "schedulers/styles" "concord_styles"
  | "runtime_events" | "threads" | "unix" ->
      Filename.concat Config.standard_library name
  | _ -> fail "library %s is not in the table of executed.ml" name

(* What a folder's rule asks for. *)
type asked = {
  directories : string list;
  preludes : string list;
  files : string list;
}

let parse arguments =
  let root = ref "" in
  let asked = ref { directories = []; preludes = []; files = [] } in
  let show names =
    let names = String.split_on_char ' ' names in
    let directories = List.map (directory !root) names in
    asked := { !asked with directories }
  and prelude file = asked := { !asked with preludes = file :: !asked.preludes }
  and file name =
    asked := { !asked with files = Filename.basename name :: !asked.files }
  in
  Arg.parse_argv arguments
    [
      ("-root", Set_string root, "");
      ("-libraries", String show, "");
      ("-prelude", String prelude, "");
    ]
    file "";
  let { directories; preludes; files } = !asked in
  { directories; preludes = List.rev preludes; files = List.rev files }

let execute { directories; preludes; _ } file =
  let packages =
    Mdx_test.Package.
      [ unix; findlib_top; findlib_internal; compilerlibs_toplevel ]
  in
  Mdx_test.run_exn () ~packages
    ~predicates:Mdx_test.Predicate.[ byte; toploop ]
    ~prelude:(List.map (fun file -> (`All, file)) preludes)
    ~prelude_str:[] ~non_deterministic:false ~silent_eval:false
    ~record_backtrace:false ~syntax:None ~silent:false ~verbose_findlib:false
    ~section:None ~root:None ~force_output:false
    ~output:(Some (`File (file ^ ".corrected")))
    ~file
    ~directives:(List.map (fun folder -> Mdx_top.Directory folder) directories)

(* The examples of a file must not see the definitions of another one. *)
let in_a_process f =
  flush_all ();
  match Unix.fork () with
  | 0 -> exit (f ())
  | child -> (
      match Unix.waitpid [] child with
      | _, WEXITED 0 -> true
      | _, (WEXITED _ | WSIGNALED _ | WSTOPPED _) -> false)

let contains text part = Texts.contains text ~part
let read file = In_channel.with_open_bin file In_channel.input_all

let has_examples file =
  let text = read file in
  contains text "{[" || contains text "{@ocaml"

let is_compared file =
  contains (read "dune") (Printf.sprintf "(diff? %s %s.corrected)" file file)

let main () =
  let asked = parse Sys.argv in
  let each file =
    if not (is_compared file) then
      fail
        "%s has examples. Write (diff? %s %s.corrected) in the dune file of \
         its folder"
        file file file;
    if not (in_a_process (fun () -> execute asked file)) then
      fail "%s: its examples can't be executed" file
  in
  match List.filter has_examples asked.files with
  | [] -> fail "no interface has examples"
  | files -> List.iter each files
