(* The bytes from [start] to [stop] are added and not written yet. *)
type t = {
  write : bytes -> int -> int -> int;
  size : int;
  mutable pending : bytes;
  mutable start : int;
  mutable stop : int;
}

let invalid operation format =
  Printf.ksprintf
    (fun what ->
      invalid_arg ("Concord_buffered.Writer." ^ operation ^ ": " ^ what))
    format

let create ?(size = 16_384) write =
  if size < 1 then invalid "create" "the size is below 1 (%d)" size;
  { write; size; pending = Bytes.empty; start = 0; stop = 0 }

let length t = t.stop - t.start
let view t f = f t.pending t.start (length t)

let consume t n =
  if n < 0 || n > length t then
    invalid "consume" "the buffer has %d bytes, not %d" (length t) n;
  t.start <- t.start + n;
  if t.start = t.stop then begin
    t.start <- 0;
    t.stop <- 0
  end

let rec flush t =
  if length t > 0 then begin
    consume t (t.write t.pending t.start (length t));
    flush t
  end

(* At least one byte of room. *)
let room t =
  if Bytes.length t.pending = 0 then t.pending <- Bytes.create t.size;
  if t.stop = t.size then flush t;
  t.size - t.stop

let rec add t s pos len =
  if len > 0 then begin
    let n = Int.min len (room t) in
    Bytes.blit_string s pos t.pending t.stop n;
    t.stop <- t.stop + n;
    add t s (pos + n) (len - n)
  end

let check operation length pos len =
  if pos < 0 || len < 0 || pos > length - len then
    invalid operation "%d bytes from %d are not in the %d bytes" len pos length

let substring t s pos len =
  check "substring" (String.length s) pos len;
  add t s pos len

let string t s = add t s 0 (String.length s)

(* [unsafe_to_string] is safe here, because the bytes are only read. *)
let bytes t b pos len =
  check "bytes" (Bytes.length b) pos len;
  add t (Bytes.unsafe_to_string b) pos len

let char t c =
  ignore (room t : int);
  Bytes.set t.pending t.stop c;
  t.stop <- t.stop + 1

(* Nothing suspends between the addition of bytes and their consumption. *)
let move reader t most =
  let room = room t in
  let moved =
    Reader.view reader @@ fun b pos len ->
    let n = Int.min most (Int.min len room) in
    Bytes.blit b pos t.pending t.stop n;
    t.stop <- t.stop + n;
    n
  in
  Reader.consume reader moved;
  moved

let rec copy reader t =
  if Reader.ensure reader 1 then begin
    ignore (move reader t max_int : int);
    copy reader t
  end

let rec copy_exactly reader t n =
  if n < 0 then invalid "copy_exactly" "the number of bytes is negative (%d)" n;
  if n > 0 then
    if Reader.ensure reader 1 then copy_exactly reader t (n - move reader t n)
    else raise End_of_file
