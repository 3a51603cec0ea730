open Channel_file
module Mutex = Concord.Mutex

type out_channel = {
  sink : Handle.t;
  out_lock : Mutex.t;
  out_size : int;
  mutable pending : bytes;
  mutable start : int;
  mutable stop : int;  (** From [start] to here it is to be written. *)
  mutable written_to : int;  (** The position in the file at [start]. *)
}

let out_channel ?at ?standard fd =
  as_sys_error @@ fun () ->
  let sink = Handle.create ?standard Write fd in
  {
    sink;
    out_lock = Mutex.create ();
    out_size = buffer_size_out sink;
    pending = Bytes.empty;
    start = 0;
    stop = 0;
    written_to = first_position sink at;
  }

let out_channel_of_descr fd = out_channel fd
let descr_of_out_channel t = Handle.descr t.sink
let open_out_gen flags perm name = open_ flags perm name (out_channel ~at:0)

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

let out_channel_length t = writing t (fun () -> Handle.length t.sink)
let set_binary_mode_out (_ : out_channel) (_ : bool) = ()
let close_sink t = as_sys_error (fun () -> Handle.close t.sink)

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
