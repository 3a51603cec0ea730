type t = { name : string; file : string; line : int; is_of_program : bool }

(* Prefixes of the names of compilation units. For example, [Lwt.Infix] is in [Lwt], and dune
   joins the names of a library and of a module by two underscores. *)
let others =
  [
    "Concord";
    "Stdlib__Fun";
    "Stdlib__Domain";
    "Stdlib__Effect";
    "Thread";
    "Eio";
    "Eio_main";
    "Eio_linux";
    "Eio_posix";
    "Eio_utils";
    "Eio_unix";
    "Lwt";
    "Lwt_main";
    "Lwt_unix";
    "Lwt_direct";
    "Domainslib";
    "Async";
    "Async_kernel";
    "Async_unix";
    "Base";
  ]

let starts_with prefix next name =
  String.starts_with ~prefix name
  && String.length name > String.length prefix
  && next name.[String.length prefix]

(* [Concord_fifo] is a library of this project, but [Concordance] is not. *)
let is_of_program name =
  let is_of other =
    starts_with other (fun next -> next = '.') name
    || String.starts_with ~prefix:(other ^ "__") name
  in
  (not (List.exists is_of others))
  && (not (starts_with "Concord" (fun next -> next = '_') name))
  && not
       (List.exists
          (fun part -> String.starts_with ~prefix:("Stdlib." ^ part ^ ".") name)
          [ "Fun"; "Domain"; "Effect" ])

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

(* If the library calls the standard library, those frames don't belong to the program either.
   So a frame of the standard library belongs to the program only if its caller does. *)
let without_callees frames =
  let add frame (callers, callers_is_of_program) =
    let is_of_program =
      frame.is_of_program
      && (callers_is_of_program || not (is_of_stdlib frame.name))
    in
    ({ frame with is_of_program } :: callers, is_of_program)
  in
  fst (List.fold_right add frames ([], true))

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
