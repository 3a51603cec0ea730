type t = {
  fd : Unix.file_descr;
  mutable buffer : Bytes.t;
  mutable first : int;
  mutable after : int;
  out : Buffer.t;
}

let size = 4096
let limit = 1_048_576

let of_descr fd =
  let buffer = Bytes.create size and out = Buffer.create size in
  { fd; buffer; first = 0; after = 0; out }

let close t = Concord_aio.close t.fd

let connect address =
  let domain = Unix.domain_of_sockaddr address in
  let t = of_descr (Unix.socket ~cloexec:true domain Unix.SOCK_STREAM 0) in
  match Concord_aio.connect t.fd address with
  | () -> t
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      close t;
      Printexc.raise_with_backtrace e backtrace

(* --- Reading ---------------------------------------------------------------- *)

let length t = t.after - t.first

(* Makes room behind what was read. *)
let make_room t =
  let n = length t in
  let buffer =
    if n < Bytes.length t.buffer then t.buffer
    else if n >= limit then failwith "Socket: a line is longer than 1 MiB"
    else Bytes.create (2 * n)
  in
  Bytes.blit t.buffer t.first buffer 0 n;
  t.buffer <- buffer;
  t.first <- 0;
  t.after <- n

let refill t =
  if t.after = Bytes.length t.buffer then make_room t;
  let room = Bytes.length t.buffer - t.after in
  match Concord_aio.read t.fd t.buffer t.after room with
  | 0 | (exception Unix.Unix_error (ECONNRESET, _, _)) -> `Eof
  | n ->
      t.after <- t.after + n;
      `Ok

let with_buffer t ~f =
  let text = Bytes.unsafe_to_string t.buffer in
  let v, consumed = f text ~pos:t.first ~len:(length t) in
  t.first <- t.first + consumed;
  v

let take t n =
  let s = Bytes.sub_string t.buffer t.first n in
  t.first <- t.first + n;
  s

(* [seen] bytes hold no end of line. *)
let rec line_after t seen =
  let rec find i =
    if i = t.after then None
    else if Bytes.get t.buffer i = '\n' then Some (i - t.first)
    else find (i + 1)
  in
  match find (t.first + seen) with
  | Some n ->
      let s = take t n in
      t.first <- t.first + 1;
      let is_crlf = n > 0 && s.[n - 1] = '\r' in
      Some (if is_crlf then String.sub s 0 (n - 1) else s)
  | None -> (
      let seen = length t in
      match refill t with
      | `Ok -> line_after t seen
      | `Eof when seen > 0 -> Some (take t seen)
      | `Eof -> None)

let line t = line_after t 0

let rec read t n =
  if length t > 0 then take t (Int.min n (length t))
  else match refill t with `Ok -> read t n | `Eof -> ""

let really_read t n =
  let text = Buffer.create n in
  let rec more () =
    if Buffer.length text < n then
      match read t (n - Buffer.length text) with
      | "" -> raise End_of_file
      | s ->
          Buffer.add_string text s;
          more ()
  in
  more ();
  Buffer.contents text

(* --- Writing ---------------------------------------------------------------- *)

let flush t =
  let text = Buffer.contents t.out in
  Buffer.clear t.out;
  ignore (Concord_aio.write_substring t.fd text 0 (String.length text) : int)

let write t s =
  Buffer.add_string t.out s;
  if Buffer.length t.out >= size then flush t
