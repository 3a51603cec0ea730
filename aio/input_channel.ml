module File = Channel_file

(* An operation first fills [buffer] until the bytes that it needs are there, between [first] and
   [next]. It takes them last. So if it is cancelled before, it has taken nothing. *)
type in_channel = {
  source : File.t;
  in_size : int;
  mutable buffer : bytes;
      (** Larger than [in_size] only if one operation takes more. *)
  mutable first : int;
  mutable next : int;
  mutable read_to : int;  (** The position in the file of the byte at [next]. *)
  mutable limit : int;
}

(* A peer that sends no newline would otherwise decide how much memory the program needs. *)
let default_limit = 1_048_576

(* Most files are small, and 64 kB take longer to allocate than to read. *)
let first_size = 4096

let in_channel ?at ?standard fd =
  let source = File.create ?standard fd in
  {
    source;
    (* Files have Stdlib's size. Others have less, because there may be many sockets. *)
    in_size = (if File.is_file source then 65536 else 16384);
    buffer = Bytes.empty;
    first = 0;
    next = 0;
    read_to = File.first_position source at;
    limit = default_limit;
  }

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
  fill (Bytes.create (Int.min most (Int.max first_size (size + 1)))) 0

let default_file_limit = 67_108_864

let read_file ?(limit = default_file_limit) name =
  if limit < 0 then invalid_arg "Concord_aio.read_file: the limit is negative";
  Io.give_turn ();
  match read_file_now name limit with
  | Some text -> text
  | None ->
      Blocking_threads.run Files (fun () ->
          In_channel.with_open_bin name (input_all name limit))

let buffered t = t.next - t.first

(* Makes room behind [next]. The bytes in the buffer are moved only if they fill at most half
   of it. Otherwise the buffer grows. *)
let make_room t =
  let n = buffered t and size = Bytes.length t.buffer in
  if n = 0 || t.next = size then begin
    let wanted =
      if size = 0 then first_size
      else if n = 0 then Int.min t.in_size (4 * size)
      else if 2 * n <= size then size
      else 2 * size
    in
    let buffer = if wanted = size then t.buffer else Bytes.create wanted in
    Bytes.blit t.buffer t.first buffer 0 n;
    t.buffer <- buffer;
    t.first <- 0;
    t.next <- n
  end

(* Reads more bytes into the buffer. The result is [false] at the end of the file. *)
let refill t =
  make_room t;
  let n = File.read t.source t.buffer t.next (Bytes.length t.buffer - t.next) in
  t.next <- t.next + n;
  t.read_to <- t.read_to + n;
  n > 0

let take t n =
  let s = Bytes.sub_string t.buffer t.first n in
  t.first <- t.first + n;
  s

let reading t f = File.locked t.source f

let input_char t =
  reading t @@ fun () ->
  if buffered t > 0 || refill t then begin
    let c = Bytes.get t.buffer t.first in
    t.first <- t.first + 1;
    c
  end
  else raise End_of_file

let input_byte t = Char.code (input_char t)

let rec newline t i =
  if i = t.next then None
  else if Bytes.unsafe_get t.buffer i = '\n' then Some i
  else newline t (i + 1)

let check_line t length =
  if length > t.limit then
    too_long
      "Concord_aio.input_line: the line is longer than %d bytes, the limit of \
       this channel. Raise the limit by set_limit_in, or read the line in \
       parts by input"
      t.limit

(* The next line, where the first [seen] bytes of the buffer are known to have no newline. *)
let rec line t seen =
  match newline t (t.first + seen) with
  | Some i ->
      check_line t (i - t.first);
      let line = take t (i - t.first) in
      t.first <- t.first + 1;
      line
  | None ->
      let seen = buffered t in
      check_line t seen;
      if refill t then line t seen
      else if seen > 0 then take t seen
      else raise End_of_file

let input_line t = reading t (fun () -> line t 0)

let input t b pos len =
  Io.check "input" (Bytes.length b) pos len;
  reading t @@ fun () ->
  if buffered t = 0 && len >= t.in_size then begin
    let n = File.read t.source b pos len in
    t.read_to <- t.read_to + n;
    t.first <- 0;
    t.next <- 0;
    n
  end
  else begin
    if len > 0 && buffered t = 0 then ignore (refill t : bool);
    let n = Int.min len (buffered t) in
    Bytes.blit t.buffer t.first b pos n;
    t.first <- t.first + n;
    n
  end

let rec fill t n =
  if buffered t < n then
    if refill t then fill t n
    else begin
      t.first <- t.next;
      raise End_of_file
    end

let really_input_string t n =
  if n < 0 then invalid_arg "really_input_string";
  reading t @@ fun () ->
  fill t n;
  take t n

let really_input t b pos len =
  Io.check "really_input" (Bytes.length b) pos len;
  reading t @@ fun () ->
  fill t len;
  Bytes.blit t.buffer t.first b pos len;
  t.first <- t.first + len

let input_binary_int t =
  reading t @@ fun () ->
  fill t 4;
  Int32.to_int (String.get_int32_be (take t 4) 0)

(* As in Stdlib, a bad header is consumed too. *)
let input_value t =
  reading t @@ fun () ->
  if buffered t = 0 && not (refill t) then raise End_of_file;
  let fill n =
    try fill t n with End_of_file -> failwith "input_value: truncated object"
  in
  fill 5;
  let is_large = Bytes.get_int32_be t.buffer t.first = 0x8495A6BFl in
  let header = if is_large then 32 else 20 in
  fill header;
  match Marshal.total_size t.buffer t.first with
  | total when total >= header ->
      if total > t.limit then
        too_long
          "Concord_aio.input_value: the value has %d bytes, but %d are the \
           limit of this channel. Raise the limit by set_limit_in"
          total t.limit;
      fill total;
      Marshal.from_string (take t total) 0
  | (_ : int) | (exception Failure _) ->
      t.first <- t.first + header;
      failwith "input_value: bad object"

let pos_in t = t.read_to - buffered t

(* If the position is in the buffer, anywhere before [next], nothing is read again. *)
let seek_in t position =
  reading t @@ fun () ->
  let back = t.read_to - position in
  if 0 <= back && back <= t.next then t.first <- t.next - back
  else begin
    File.seek t.source position;
    t.read_to <- position;
    t.first <- 0;
    t.next <- 0
  end

let in_channel_length t = reading t (fun () -> File.length t.source)

(* Text and binary mode are the same on Unix. *)
let set_binary_mode_in (_ : in_channel) (_ : bool) = ()
