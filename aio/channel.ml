module Mutex = Concord.Mutex

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

(* A worker is asked for each of a file's buffers. *)
let buffer_size handle = if Handle.is_file handle then 65536 else 16384

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

(* Where in the file a channel begins: as in Stdlib, at 0 also if it appends. *)
let first_position handle = function
  | Some position -> position
  | None -> Handle.position handle

(* --- Input ---------------------------------------------------------------- *)

(* An operation first sees to it that what it takes is in [buffer], between [first] and
   [next], and takes it last: if it is cancelled before, it has taken nothing. *)
type in_channel = {
  source : Handle.t;
  in_lock : Mutex.t;
  in_size : int;  (** Of [buffer], unless one operation takes more. *)
  mutable buffer : bytes;
  mutable first : int;
  mutable next : int;
  mutable read_to : int;  (** The position in the file of what is at [next]. *)
}

let in_channel ?at shared fd =
  as_sys_error @@ fun () ->
  let source = Handle.create ~shared fd in
  {
    source;
    in_lock = Mutex.create ();
    in_size = buffer_size source;
    buffer = Bytes.empty;
    first = 0;
    next = 0;
    read_to = first_position source at;
  }

let in_channel_of_descr fd = in_channel false fd
let descr_of_in_channel t = Handle.descr t.source
let open_in_gen flags perm name = open_ flags perm name (in_channel ~at:0 false)
let open_in = open_in_gen [ Open_rdonly; Open_text ] 0
let open_in_bin = open_in_gen [ Open_rdonly; Open_binary ] 0
let buffered t = t.next - t.first

(* There is room behind [next] then. *)
let make_room t =
  if t.first = t.next then begin
    t.first <- 0;
    t.next <- 0;
    if Bytes.length t.buffer <> t.in_size then
      t.buffer <- Bytes.create t.in_size
  end
  else if t.next = Bytes.length t.buffer then begin
    let n = buffered t in
    let buffer =
      if 2 * n <= Bytes.length t.buffer then t.buffer
      else Bytes.create (2 * Bytes.length t.buffer)
    in
    Bytes.blit t.buffer t.first buffer 0 n;
    t.buffer <- buffer;
    t.first <- 0;
    t.next <- n
  end

(* [false] at the end of the file. *)
let refill t =
  make_room t;
  let n =
    Handle.read t.source t.buffer t.next (Bytes.length t.buffer - t.next)
  in
  t.next <- t.next + n;
  t.read_to <- t.read_to + n;
  n > 0

let take t n =
  let s = Bytes.sub_string t.buffer t.first n in
  t.first <- t.first + n;
  s

let reading t f =
  as_sys_error @@ fun () ->
  Mutex.protect t.in_lock @@ fun () ->
  if Handle.is_closed t.source then raise (Unix.Unix_error (EBADF, "read", ""));
  f ()

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

(* The first [seen] bytes have no newline. *)
let rec line t seen =
  match newline t (t.first + seen) with
  | Some i ->
      let line = take t (i - t.first) in
      t.first <- t.first + 1;
      line
  | None ->
      let seen = buffered t in
      if refill t then line t seen
      else if seen > 0 then take t seen
      else raise End_of_file

let input_line t = reading t (fun () -> line t 0)

let input t b pos len =
  check "input" (Bytes.length b) pos len;
  reading t @@ fun () ->
  if len > 0 && buffered t = 0 then ignore (refill t : bool);
  let n = Int.min len (buffered t) in
  Bytes.blit t.buffer t.first b pos n;
  t.first <- t.first + n;
  n

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
  check "really_input" (Bytes.length b) pos len;
  reading t @@ fun () ->
  fill t len;
  Bytes.blit t.buffer t.first b pos len;
  t.first <- t.first + len

let input_binary_int t =
  reading t @@ fun () ->
  fill t 4;
  Int32.to_int (String.get_int32_be (take t 4) 0)

let truncated () = failwith "input_value: truncated object"

let input_value t =
  reading t @@ fun () ->
  if buffered t = 0 && not (refill t) then raise End_of_file;
  let fill n = try fill t n with End_of_file -> truncated () in
  fill Marshal.header_size;
  match Marshal.total_size t.buffer t.first with
  | total ->
      fill total;
      Marshal.from_string (take t total) 0
  | exception Failure _ -> failwith "input_value: bad object"

let pos_in t = t.read_to - buffered t

(* What is in the buffer, from its beginning to [next], is not read again. *)
let seek_in t position =
  reading t @@ fun () ->
  let back = t.read_to - position in
  if 0 <= back && back <= t.next then t.first <- t.next - back
  else begin
    Handle.seek t.source position;
    t.read_to <- position;
    t.first <- 0;
    t.next <- 0
  end

let in_channel_length t = as_sys_error (fun () -> Handle.length t.source)

(* Unix has one mode. *)
let set_binary_mode_in (_ : in_channel) (_ : bool) = ()
let close_in t = as_sys_error (fun () -> ignore (Handle.close t.source : bool))
let close_in_noerr t = try close_in t with Sys_error _ -> ()

(* --- Output --------------------------------------------------------------- *)

type out_channel = {
  sink : Handle.t;
  out_lock : Mutex.t;
  out_size : int;
  mutable pending : bytes;
  mutable start : int;
  mutable stop : int;  (** From [start] to here it is to be written. *)
  mutable written_to : int;  (** The position in the file at [start]. *)
}

let out_channel ?at shared fd =
  as_sys_error @@ fun () ->
  let sink = Handle.create ~shared fd in
  {
    sink;
    out_lock = Mutex.create ();
    out_size = buffer_size sink;
    pending = Bytes.empty;
    start = 0;
    stop = 0;
    written_to = first_position sink at;
  }

let out_channel_of_descr fd = out_channel false fd
let descr_of_out_channel t = Handle.descr t.sink

let open_out_gen flags perm name =
  open_ flags perm name (out_channel ~at:0 false)

let open_out =
  open_out_gen [ Open_wronly; Open_creat; Open_trunc; Open_text ] 0o666

let open_out_bin =
  open_out_gen [ Open_wronly; Open_creat; Open_trunc; Open_binary ] 0o666

let rec write_all t =
  if t.start < t.stop then begin
    let n = Handle.write t.sink t.pending t.start (t.stop - t.start) in
    t.start <- t.start + n;
    t.written_to <- t.written_to + n;
    write_all t
  end
  else begin
    t.start <- 0;
    t.stop <- 0
  end

let writing t f =
  as_sys_error @@ fun () ->
  Mutex.protect t.out_lock @@ fun () ->
  if Handle.is_closed t.sink then raise (Unix.Unix_error (EBADF, "write", ""));
  f ()

let rec add t blit pos len =
  if len > 0 then begin
    if Bytes.length t.pending = 0 then t.pending <- Bytes.create t.out_size;
    if t.stop = t.out_size then write_all t;
    let n = Int.min len (t.out_size - t.stop) in
    blit pos t.pending t.stop n;
    t.stop <- t.stop + n;
    add t blit (pos + n) (len - n)
  end

let output_substring t s pos len =
  check "output_substring" (String.length s) pos len;
  writing t (fun () ->
      add t (fun pos b at n -> Bytes.blit_string s pos b at n) pos len)

let output_string t s = output_substring t s 0 (String.length s)

let output t b pos len =
  check "output" (Bytes.length b) pos len;
  writing t (fun () ->
      add t (fun pos to_ at n -> Bytes.blit b pos to_ at n) pos len)

let output_bytes t b = output t b 0 (Bytes.length b)
let output_char t c = output_string t (String.make 1 c)
let output_byte t n = output_char t (Char.unsafe_chr (n land 255))

let output_binary_int t n =
  let b = Bytes.create 4 in
  Bytes.set_int32_be b 0 (Int32.of_int n);
  output_bytes t b

let output_value t v = output_string t (Marshal.to_string v [])

(* A channel that is closed has nothing to write, as in Stdlib. *)
let flush t =
  if not (Handle.is_closed t.sink) then writing t (fun () -> write_all t)

let pos_out t = t.written_to + t.stop - t.start

let seek_out t position =
  writing t @@ fun () ->
  write_all t;
  if position <> t.written_to then begin
    Handle.seek t.sink position;
    t.written_to <- position
  end

let out_channel_length t = as_sys_error (fun () -> Handle.length t.sink)
let set_binary_mode_out (_ : out_channel) (_ : bool) = ()
let close_sink t = as_sys_error (fun () -> ignore (Handle.close t.sink : bool))

let close_out t =
  match flush t with
  | () -> close_sink t
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      close_sink t;
      Printexc.raise_with_backtrace e backtrace

let close_out_noerr t =
  (* as in Stdlib, whatever it is *)
  try close_out t with _ -> ()

(* --- Standard channels ---------------------------------------------------- *)

let stdin = in_channel true Unix.stdin
let stdout = out_channel true Unix.stdout
let stderr = out_channel true Unix.stderr

(* As Stdlib's, which flush what asks the question first. *)
let read_line () =
  flush stdout;
  Stdlib.(flush stdout);
  input_line stdin

let read_int () = int_of_string (read_line ())
let read_int_opt () = int_of_string_opt (read_line ())
let read_float () = float_of_string (read_line ())
let read_float_opt () = float_of_string_opt (read_line ())
