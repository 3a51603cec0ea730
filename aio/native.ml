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

external recv_now : Unix.file_descr -> bytes -> int -> int -> int
  = "concord_aio_recv_now"

external send_now : Unix.file_descr -> bytes -> int -> int -> int
  = "concord_aio_send_now"

external poll_now : Unix.file_descr -> bool -> int = "concord_aio_poll_now"
[@@noalloc]

let is_ready fd ~write =
  match poll_now fd write with
  | -1 -> raise (Unix.Unix_error (EBADF, "poll", ""))
  | n -> n = 1

external open_now : string -> int -> int = "concord_aio_open_now" [@@noalloc]

(* With only these flags, opening creates and changes nothing, and doesn't wait. *)
let is_simple : Unix.open_flag -> bool = function
  | O_RDONLY | O_WRONLY | O_RDWR | O_CLOEXEC | O_SHARE_DELETE | O_NOCTTY -> true
  | _ -> false

let open_now name flags =
  if List.for_all is_simple flags && not (String.contains name '\000') then
    let has flag = List.mem flag flags in
    let access = if has O_RDWR then 2 else if has O_WRONLY then 1 else 0 in
    match open_now name access with
    | -1 -> None
    | fd -> Some (Iomux.Util.unix_of_fd fd)
  else None

external generation : unit -> int = "concord_aio_generation" [@@noalloc]

external pread_now : Unix.file_descr -> bytes -> int -> int -> int -> int
  = "concord_aio_pread_now"
[@@noalloc]

external pwrite_now : Unix.file_descr -> bytes -> int -> int -> int -> int
  = "concord_aio_pwrite_now"
[@@noalloc]

external pread : Unix.file_descr -> bytes -> int -> int -> int -> int
  = "concord_aio_pread"

external pwrite : Unix.file_descr -> bytes -> int -> int -> int -> int
  = "concord_aio_pwrite"

external pidfd : int -> int = "concord_aio_pidfd"

let process_descr pid =
  match pidfd pid with -1 -> None | fd -> Some (Iomux.Util.unix_of_fd fd)

external send_descrs :
  Unix.file_descr -> Unix.file_descr array -> bytes -> int -> int -> int
  = "concord_aio_send_descrs"

external recv_descrs :
  Unix.file_descr -> bytes -> int -> int -> int * Unix.file_descr array
  = "concord_aio_recv_descrs"

external send_file :
  Unix.file_descr -> Unix.file_descr -> int -> int -> bool -> int
  = "concord_aio_send_file"
