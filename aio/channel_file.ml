(* --- Stdlib's exceptions -------------------------------------------------- *)

let raise_sys_error ?name error backtrace =
  let message = Unix.error_message error in
  let message =
    match name with Some name -> name ^ ": " ^ message | None -> message
  in
  Printexc.raise_with_backtrace (Sys_error message) backtrace

let as_sys_error ?name f =
  try f ()
  with Unix.Unix_error (error, _, _) ->
    raise_sys_error ?name error (Printexc.get_raw_backtrace ())

let check name length pos len =
  if pos < 0 || len < 0 || pos > length - len then invalid_arg name

let buffer_size = 16384

(* For what is written to a file a worker may be asked each time. *)
let buffer_size_out handle = if Handle.is_file handle then 65536 else 16384

(* --- Opening -------------------------------------------------------------- *)

let unix_flag = function
  | Open_rdonly -> [ Unix.O_RDONLY ]
  | Open_wronly -> [ O_WRONLY ]
  | Open_append -> [ O_APPEND ]
  | Open_creat -> [ O_CREAT ]
  | Open_trunc -> [ O_TRUNC ]
  | Open_excl -> [ O_EXCL ]
  | Open_nonblock -> [ O_NONBLOCK ]
  | Open_binary | Open_text -> []

let open_ flags perm name of_descr =
  as_sys_error ~name @@ fun () ->
  of_descr (Descriptor.openfile name (List.concat_map unix_flag flags) perm)

(* As in Stdlib, at 0 also if it appends. *)
let first_position handle = function
  | Some position -> position
  | None -> Option.value (Handle.position handle) ~default:(-1)
