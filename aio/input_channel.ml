module File = Channel_file
module Reader = Concord_buffered.Reader

type in_channel = {
  source : File.t;
  reader : Reader.t;
  read_to : int ref;
      (** The position in the file behind the bytes in the reader. *)
  mutable limit : int;
}

(* A peer that sends no newline would otherwise decide how much memory the program needs. *)
let default_limit = 1_048_576

let in_channel ?at ?standard fd =
  let source = File.create ?standard fd in
  (* Files have Stdlib's size. Others have less, because there may be many sockets. *)
  let size = if File.is_file source then 65536 else 16384 in
  let read_to = ref (File.first_position source at) in
  let read b pos len =
    let n = File.read source b pos len in
    read_to := !read_to + n;
    n
  in
  { source; reader = Reader.create ~size read; read_to; limit = default_limit }

let stdin = in_channel ~standard:true Unix.stdin
let in_channel_of_descr fd = in_channel fd
let descr_of_in_channel t = File.descr t.source
let limit_in t = t.limit

let set_limit_in t limit =
  if limit < 1 then invalid_arg "Concord_aio.set_limit_in: the limit is below 1";
  t.limit <- limit

let open_in_gen flags perm name = File.open_ flags perm name (in_channel ~at:0)
let open_in = open_in_gen [ Open_rdonly; Open_text ] 0
let open_in_bin = open_in_gen [ Open_rdonly; Open_binary ] 0
let close_in t = File.close t.source
let close_in_noerr t = try close_in t with Sys_error _ -> ()

let with_open_in name f =
  let ic = open_in name in
  Ensure.finally close_in_noerr ic f ic

(* A file that is in the system's memory is read at once, but not so much that other tasks would
   notice it. *)
let most_at_once = 262_144

let rec fills fd b n =
  n = Bytes.length b
  ||
  match Native.read_now fd b n (Bytes.length b - n) with
  | more when more > 0 -> fills fd b (n + more)
  | _ -> false

let is_at_end fd = Native.read_now fd (Bytes.create 1) 0 1 = 0
let too_long format = Printf.ksprintf (fun s -> raise (Sys_error s)) format

let file_too_long name limit =
  too_long
    "Concord_aio.read_file: %s is longer than %d bytes, the limit. Pass a \
     larger ~limit, or read the file in parts by open_in and input"
    name limit

let read_file_now name limit =
  match Native.open_now name [ O_RDONLY ] with
  | None -> None
  | Some fd ->
      let read fd =
        let size = (Unix.fstat fd).st_size in
        if size > limit then file_too_long name limit;
        let b = Bytes.create (if size <= most_at_once then size else 0) in
        if fills fd b 0 && is_at_end fd then Some (Bytes.unsafe_to_string b)
        else None
      in
      Ensure.finally Unix.close fd read fd

(* The size is only a hint, because that of a FIFO or of a file in /proc is not known. *)
let input_all name limit ic =
  let size =
    match In_channel.length ic with
    | size -> Int64.to_int size
    | exception Sys_error _ -> 0
  in
  if size > limit then file_too_long name limit;
  (* The further byte finds the end. *)
  let most = if limit = max_int then limit else limit + 1 in
  let rec fill b n =
    if n > limit then file_too_long name limit
    else if n = Bytes.length b then
      fill (Bytes.extend b 0 (Int.min n (most - n))) n
    else
      match In_channel.input ic b n (Bytes.length b - n) with
      | 0 -> Bytes.sub_string b 0 n
      | more -> fill b (n + more)
  in
  fill (Bytes.create (Int.min most (Int.max 4096 (size + 1)))) 0

let default_file_limit = 67_108_864

let read_file ?(limit = default_file_limit) name =
  if limit < 0 then invalid_arg "Concord_aio.read_file: the limit is negative";
  Io.give_turn ();
  match read_file_now name limit with
  | Some text -> text
  | None ->
      Blocking_threads.run Files (fun () ->
          In_channel.with_open_bin name (input_all name limit))

(* --- Reading -------------------------------------------------------------------- *)

let reading t f = File.locked t.source (fun () -> f t.reader)
let input_char t = reading t Reader.char
let input_byte t = Char.code (input_char t)

let input_line t =
  reading t @@ fun reader ->
  try Reader.until ~max:t.limit '\n' reader
  with Reader.Too_long _ ->
    too_long
      "Concord_aio.input_line: the line is longer than %d bytes, the limit of \
       this channel. Raise the limit by set_limit_in, or read the line in \
       parts by input"
      t.limit

let input t b pos len =
  Io.check "input" (Bytes.length b) pos len;
  reading t (fun reader -> Reader.read reader b pos len)

(* As in Stdlib, what there is before the end of the file is taken. *)
let fill reader n =
  if not (Reader.ensure reader n) then begin
    Reader.consume reader (Reader.length reader);
    raise End_of_file
  end

let really_input_string t n =
  if n < 0 then invalid_arg "really_input_string";
  reading t @@ fun reader ->
  fill reader n;
  Reader.take reader n

let really_input t b pos len =
  Io.check "really_input" (Bytes.length b) pos len;
  reading t @@ fun reader ->
  fill reader len;
  if len > 0 then ignore (Reader.read reader b pos len : int)

let input_binary_int t =
  reading t @@ fun reader ->
  fill reader 4;
  Int32.to_int (String.get_int32_be (Reader.take reader 4) 0)

let pos_in t = !(t.read_to) - Reader.length t.reader

(* If the position is in the buffer, also before the bytes that are still to be taken, nothing is
   read again. *)
let seek_in t position =
  reading t @@ fun reader ->
  let further = position - pos_in t in
  if 0 <= further && further <= Reader.length reader then
    Reader.consume reader further
  else if not (further < 0 && Reader.unconsume reader (-further)) then begin
    File.seek t.source position;
    t.read_to := position;
    Reader.clear reader
  end

let in_channel_length t = reading t (fun _ -> File.length t.source)

(* Text and binary mode are the same on Unix. *)
let set_binary_mode_in (_ : in_channel) (_ : bool) = ()
