type t = { name : string; file : string; line : int; is_of_program : bool }

(* Names of compilation units. For example, [Lwt.Infix] is in [Lwt], and dune joins the names
   of a library and of a module by two underscores. *)
let units =
  [
    "Concord";
    "Stdlib__Fun";
    "Stdlib__Domain";
    "Stdlib__Effect";
    "Thread";
    "Eio";
    "Lwt";
    "Domainslib";
    "Async";
    "Async_kernel";
    "Async_unix";
    "Base";
    "Picos";
    "Moonpool";
    "Miou";
  ]

(* Libraries whose other units have names that begin with this one. *)
let families = [ "Concord"; "Picos"; "Moonpool"; "Miou" ]

(* Other families, in which programs have units too, such as [Lwt_helpers]. *)
let members =
  [
    ("Eio", [ "linux"; "main"; "mock"; "posix"; "unix"; "utils"; "windows" ]);
    ( "Lwt",
      [
        "bytes";
        "condition";
        "direct";
        "engine";
        "io";
        "list";
        "main";
        "mutex";
        "mvar";
        "pool";
        "preemptive";
        "process";
        "result";
        "seq";
        "sequence";
        "stream";
        "switch";
        "timeout";
        "unix";
      ] );
  ]

let all_units =
  units
  @ List.concat_map
      (fun (family, names) -> List.map (fun name -> family ^ "_" ^ name) names)
      members

let starts_with prefix next name =
  String.starts_with ~prefix name
  && String.length name > String.length prefix
  && next name.[String.length prefix]

(* [Concord_fifo] is a library of this project, but [Concordance] is not. *)
let is_of_program name =
  let is_of other =
    starts_with other (fun next -> next = '.') name
    || String.starts_with ~prefix:(other ^ "__") name
  and is_of_family other = starts_with other (fun next -> next = '_') name in
  (not (List.exists is_of all_units))
  && (not (List.exists is_of_family families))
  && not
       (List.exists
          (fun part -> String.starts_with ~prefix:("Stdlib." ^ part ^ ".") name)
          [ "Fun"; "Domain"; "Effect" ])

(* Functions in which a scheduler runs its tasks. The frames around one of them belong to the
   function that called the scheduler, and not to the task. *)
let bases =
  [
    "Concord__Job.begin_";
    "Concord__Loop.begin_";
    "Domainslib__Task.do_task";
    "Eio_linux__Sched.";
    "Eio_mock__Backend.";
    "Eio_posix__Sched.";
    "Eio_windows__Sched.";
    "Lwt.Resolution_loop.";
    "Lwt_main.";
    "Picos_mux_";
  ]

let is_base name =
  List.exists (fun base -> String.starts_with ~prefix:base name) bases

(* The program's author knows [Dune__exe__Server.handle] as [Server.handle]. *)
let shown name =
  let prefix = "Dune__exe__" in
  if String.starts_with ~prefix name then
    let n = String.length prefix in
    String.sub name n (String.length name - n)
  else name

let of_line (name, file, line) =
  { name = shown name; file; line; is_of_program = is_of_program name }

let of_slot slot =
  let name = Option.value (Printexc.Slot.name slot) ~default:"" in
  let of_location ({ filename; line_number; _ } : Printexc.location) =
    of_line (name, filename, line_number)
  in
  Option.map of_location (Printexc.Slot.location slot)

let is_of_stdlib name =
  String.starts_with ~prefix:"Stdlib__" name
  || String.starts_with ~prefix:"Stdlib." name

(* From the innermost frame outward, [true] for those around the scheduler of the task. *)
let outside frames =
  let add (is_outside, found) { name; _ } =
    let is_outside = is_outside || is_base name in
    (is_outside, is_outside :: found)
  in
  List.rev (snd (List.fold_left add (false, []) frames))

(* If the library calls the standard library, those frames don't belong to the program either.
   So a frame of the standard library belongs to the program only if its caller does. *)
let without_callees frames =
  let add frame is_outside (callers, callers_is_of_program) =
    let is_of_program =
      frame.is_of_program && (not is_outside)
      && (callers_is_of_program || not (is_of_stdlib frame.name))
    in
    ({ frame with is_of_program } :: callers, is_of_program)
  in
  fst (List.fold_right2 add frames (outside frames) ([], true))

let all backtrace =
  match Printexc.backtrace_slots backtrace with
  | None -> []
  | Some slots ->
      without_callees (List.filter_map of_slot (Array.to_list slots))

let only_of_program = List.filter (fun frame -> frame.is_of_program)
let of_program backtrace = only_of_program (all backtrace)
let of_lines lines = only_of_program (without_callees (List.map of_line lines))
let is_of_stdlib { name; _ } = is_of_stdlib name

let load () =
  if Sys.backend_type = Bytecode then
    ignore (all (Printexc.get_callstack 1) : t list)

module Table = Hashtbl.Make (struct
  type t = Printexc.raw_backtrace

  let equal (a : t) b = a = b
  let hash (backtrace : t) = Hashtbl.hash_param 100 100 backtrace
end)

let remembering f =
  let known = Table.create 100 in
  fun backtrace ->
    match Table.find_opt known backtrace with
    | Some found -> found
    | None ->
        let found = f backtrace in
        Table.add known backtrace found;
        found

let to_string { name; file; line; _ } =
  if name = "" then Printf.sprintf "%s:%d" file line
  else Printf.sprintf "%s:%d (%s)" file line name
