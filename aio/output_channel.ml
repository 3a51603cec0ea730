module File = Channel_file

type out_channel = {
  sink : File.t;
  out_size : int;
  mutable pending : bytes;
  mutable start : int;
  mutable stop : int;
      (** The bytes from [start] to here are not written yet. *)
  mutable written_to : int;  (** The position in the file at [start]. *)
  mutable interrupted : bool;
      (** [true] if a task was writing when another one closed the channel. *)
}

let out_channel ?at ?standard fd =
  let sink = File.create ?standard fd in
  {
    sink;
    (* Files have larger buffers, because each write to a file may need a worker. *)
    out_size = (if File.is_file sink then 65536 else 16384);
    pending = Bytes.empty;
    start = 0;
    stop = 0;
    written_to = File.first_position sink at;
    interrupted = false;
  }

let stdout = out_channel ~standard:true Unix.stdout
let stderr = out_channel ~standard:true Unix.stderr
let out_channel_of_descr fd = out_channel fd
let descr_of_out_channel t = File.descr t.sink

let open_out_gen flags perm name =
  File.open_ flags perm name (out_channel ~at:0)

let open_out =
  open_out_gen [ Open_wronly; Open_creat; Open_trunc; Open_text ] 0o666

let open_out_bin =
  open_out_gen [ Open_wronly; Open_creat; Open_trunc; Open_binary ] 0o666

let unwritten t = t.stop - t.start

let wrote t n =
  t.start <- t.start + n;
  t.written_to <- t.written_to + n

let rec write_rest ~last t =
  if unwritten t > 0 then begin
    wrote t (File.write ~last t.sink t.pending t.start (unwritten t));
    write_rest ~last t
  end
  else begin
    t.start <- 0;
    t.stop <- 0
  end

let write_all t =
  try write_rest ~last:false t
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if File.is_closed t.sink then t.interrupted <- true;
    Printexc.raise_with_backtrace e backtrace

let rec write_now t =
  if unwritten t > 0 then begin
    let n = File.write_now t.sink t.pending t.start (unwritten t) in
    wrote t n;
    if n > 0 then write_now t
  end

let writing t f = File.locked t.sink f

let rec add t s pos len =
  if len > 0 then begin
    if Bytes.length t.pending = 0 then t.pending <- Bytes.create t.out_size;
    if t.stop = t.out_size then write_all t;
    let n = Int.min len (t.out_size - t.stop) in
    Bytes.blit_string s pos t.pending t.stop n;
    t.stop <- t.stop + n;
    add t s (pos + n) (len - n)
  end

let output_substring t s pos len =
  Io.check "output_substring" (String.length s) pos len;
  writing t (fun () -> add t s pos len)

let output_string t s = output_substring t s 0 (String.length s)

(* [unsafe_to_string] is safe here, because the bytes are only read. *)
let output t b pos len =
  Io.check "output" (Bytes.length b) pos len;
  output_substring t (Bytes.unsafe_to_string b) pos len

let output_bytes t b = output t b 0 (Bytes.length b)
let output_char t c = output_string t (String.make 1 c)
let output_byte t n = output_char t (Char.unsafe_chr (n land 255))

let output_binary_int t n =
  let b = Bytes.create 4 in
  Bytes.set_int32_be b 0 (Int32.of_int n);
  output_bytes t b

let output_value t v = output_string t (Marshal.to_string v [])

(* As in Stdlib, flushing a closed channel does nothing. *)
let flush t =
  if not (File.is_closed t.sink) then writing t (fun () -> write_all t)

let pos_out t = t.written_to + unwritten t

let seek_out t position =
  writing t @@ fun () ->
  write_all t;
  if position <> t.written_to then begin
    File.seek t.sink position;
    t.written_to <- position
  end

let out_channel_length t = writing t (fun () -> File.length t.sink)
let set_binary_mode_out (_ : out_channel) (_ : bool) = ()

(* What need not wait is written even if the task is cancelled. If another task was waiting for
   the peer, the peer may never read, so this task doesn't wait for it too. *)
let write_last t =
  write_now t;
  let left = unwritten t in
  if left > 0 && t.interrupted && not (File.is_file t.sink) then
    raise
      (Sys_error
         (Printf.sprintf
            "Concord_aio.close_out: %d bytes were not written, because another \
             task was waiting to write when the channel was closed"
            left));
  write_rest ~last:true t

let close_out t =
  if File.shut t.sink then
    let write sink = File.last sink (fun () -> write_last t) in
    Ensure.finally File.release t.sink write t.sink

(* As in Stdlib, all exceptions are ignored. *)
let close_out_noerr t = try close_out t with _ -> ()

let with_open_out name f =
  let oc = open_out name in
  Ensure.finally close_out oc f oc
