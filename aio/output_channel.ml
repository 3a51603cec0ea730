module File = Channel_file
module Writer = Concord_buffered.Writer

type out_channel = {
  sink : File.t;
  writer : Writer.t;
  written_to : int ref;
      (** The position in the file of the writer's first byte. *)
  is_last : bool ref;  (** [true] in {!close_out}. *)
  mutable interrupted : bool;
      (** [true] if a task was writing when another one closed the channel. *)
}

let out_channel ?at ?standard fd =
  let sink = File.create ?standard fd in
  (* Files have larger buffers, because each write to a file may need a worker. *)
  let size = if File.is_file sink then 65536 else 16384 in
  let written_to = ref (File.first_position sink at) and is_last = ref false in
  let write b pos len =
    let n = File.write ~last:!is_last sink b pos len in
    written_to := !written_to + n;
    n
  in
  let writer = Writer.create ~size write in
  { sink; writer; written_to; is_last; interrupted = false }

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

(* [f] writes. *)
let noting_interruption t f =
  try f ()
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if File.is_closed t.sink then t.interrupted <- true;
    Printexc.raise_with_backtrace e backtrace

let write_all t = noting_interruption t (fun () -> Writer.flush t.writer)

let rec write_now t =
  if Writer.length t.writer > 0 then begin
    let n = Writer.view t.writer (File.write_now t.sink) in
    t.written_to := !(t.written_to) + n;
    Writer.consume t.writer n;
    if n > 0 then write_now t
  end

let writing t f = File.locked t.sink f

let output_substring t s pos len =
  Io.check "output_substring" (String.length s) pos len;
  writing t @@ fun () ->
  noting_interruption t (fun () -> Writer.substring t.writer s pos len)

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

(* As in Stdlib, flushing a closed channel does nothing. *)
let flush t =
  if not (File.is_closed t.sink) then writing t (fun () -> write_all t)

let pos_out t = !(t.written_to) + Writer.length t.writer

let seek_out t position =
  writing t @@ fun () ->
  write_all t;
  if position <> !(t.written_to) then begin
    File.seek t.sink position;
    t.written_to := position
  end

let out_channel_length t = writing t (fun () -> File.length t.sink)
let set_binary_mode_out (_ : out_channel) (_ : bool) = ()

(* What need not wait is written even if the task is cancelled. If another task was waiting for
   the peer, the peer may never read, so this task doesn't wait for it too. *)
let write_last t =
  write_now t;
  let left = Writer.length t.writer in
  if left > 0 && t.interrupted && not (File.is_file t.sink) then
    raise
      (Sys_error
         (Printf.sprintf
            "Concord_aio.close_out: %d bytes were not written, because another \
             task was waiting to write when the channel was closed"
            left));
  t.is_last := true;
  Writer.flush t.writer

let close_out t =
  if File.shut t.sink then
    let write sink = File.last sink (fun () -> write_last t) in
    Ensure.finally File.release t.sink write t.sink

(* As in Stdlib, all exceptions are ignored. *)
let close_out_noerr t = try close_out t with _ -> ()

let with_open_out name f =
  let oc = open_out name in
  Ensure.finally close_out oc f oc

let drop_out t = File.close t.sink
