module Table = Hashtbl.Make (Int)

let page_size = 4096
let page_bits = 12

(* The page that was used last is looked at first. [None] is a page that can't be read. *)
type t = {
  file : Unix.file_descr;
  pages : Bytes.t option Table.t;
  mutable last : int;
  mutable page : Bytes.t option;
}

let of_process pid =
  match
    Unix.openfile (Printf.sprintf "/proc/%d/mem" pid) [ O_RDONLY; O_CLOEXEC ] 0
  with
  | file -> { file; pages = Table.create 10_000; last = -1; page = None }
  | exception Unix.Unix_error _ -> Process.refuse_access pid

let close t = Unix.close t.file

let forget t =
  Table.reset t.pages;
  t.last <- -1;
  t.page <- None

let read t address buffer ~length =
  let rec from done_ =
    if done_ = length then length
    else
      match Unix.read t.file buffer done_ (length - done_) with
      | 0 -> done_
      | n -> from (done_ + n)
      | exception Unix.Unix_error (EINTR, _, _) -> from done_
      | exception Unix.Unix_error _ -> done_
  in
  match Unix.lseek t.file address SEEK_SET with
  | (_ : int) -> from 0
  | exception Unix.Unix_error _ -> 0

let load t number =
  let buffer = Bytes.create page_size in
  let page =
    if read t (number lsl page_bits) buffer ~length:page_size = page_size then
      Some buffer
    else None
  in
  Table.replace t.pages number page;
  page

let find t number =
  let page =
    match Table.find_opt t.pages number with
    | Some page -> page
    | None -> load t number
  in
  t.last <- number;
  t.page <- page;
  page

let[@inline] page t address =
  let number = address lsr page_bits in
  if number = t.last then t.page else find t number

let[@inline] within address = address land (page_size - 1)

let word t address =
  match page t address with
  | Some page -> Int64.to_int (Bytes.get_int64_le page (within address))
  | None -> 0

let half t address =
  match page t address with
  | Some page ->
      Int32.to_int (Bytes.get_int32_le page (within address)) land 0xffff_ffff
  | None -> 0

let quarter t address =
  match page t address with
  | Some page -> Bytes.get_uint16_le page (within address)
  | None -> 0

let byte t address =
  match page t address with
  | Some page -> Bytes.get_uint8 page (within address)
  | None -> 0

let is_readable t address = address > 0 && Option.is_some (page t address)

let bytes t address ~length =
  String.init length (fun i -> Char.chr (byte t (address + i)))

let longest = 4096

let text t address =
  let rec length i =
    if i < longest && byte t (address + i) <> 0 then length (i + 1) else i
  in
  bytes t address ~length:(length 0)
