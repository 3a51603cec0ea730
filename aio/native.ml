type nature = int

external nature_of : Unix.file_descr -> bool -> int = "concord_aio_nature"

let nature ~nonblock fd =
  match nature_of fd nonblock with
  | -1 -> raise (Unix.Unix_error (EBADF, "fstat", ""))
  | nature -> nature

let is_file nature = nature land 1 = 1

external read_now : Unix.file_descr -> bytes -> int -> int -> int
  = "concord_aio_read_now"
[@@noalloc]

external write_now : Unix.file_descr -> bytes -> int -> int -> int
  = "concord_aio_write_now"
[@@noalloc]

external open_now : string -> int -> int = "concord_aio_open_now" [@@noalloc]

(* Those flags with which nothing is created or changed, and nothing waits. *)
let simple flags =
  let add sum (flag : Unix.open_flag) =
    match (sum, flag) with
    | Some sum, O_RDONLY -> Some sum
    | Some _, O_WRONLY -> Some 1
    | Some _, O_RDWR -> Some 2
    | Some sum, (O_CLOEXEC | O_SHARE_DELETE | O_NOCTTY) -> Some sum
    | _ -> None
  in
  List.fold_left add (Some 0) flags

let open_now name flags =
  match simple flags with
  | Some flags when not (String.contains name '\000') -> (
      match open_now name flags with
      | -1 -> None
      | fd -> Some (Iomux.Util.unix_of_fd fd))
  | Some _ | None -> None

external generation : unit -> int = "concord_aio_generation" [@@noalloc]
