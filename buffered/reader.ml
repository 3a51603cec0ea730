(* The bytes from [first] to [next] are in the buffer. An operation first fills the buffer until the
   bytes that it needs are there, and takes them last. So if [read] raises, it has taken nothing. *)
type t = {
  read : bytes -> int -> int -> int;
  size : int;
  mutable buffer : bytes;
      (** Larger than [size] only if one operation takes more. *)
  mutable first : int;
  mutable next : int;
}

exception Too_long of { operation : string; max : int }

let () =
  Printexc.register_printer (function
    | Too_long { operation; max } ->
        Some
          (Printf.sprintf
             "Concord_buffered.%s: the input is longer than %d bytes, which \
              ~max allows. Pass a larger ~max, or close the connection"
             operation max)
    | _ -> None)

let too_long operation max = raise (Too_long { operation; max })

let invalid operation format =
  Printf.ksprintf
    (fun what ->
      invalid_arg ("Concord_buffered.Reader." ^ operation ^ ": " ^ what))
    format

let check operation n =
  if n < 0 then invalid operation "the number of bytes is negative (%d)" n

(* Idle connections need little, and 64 kB take longer to allocate than to read. *)
let first_size = 4096

let create ?(size = 16_384) read =
  if size < 1 then invalid "create" "the size is below 1 (%d)" size;
  { read; size; buffer = Bytes.empty; first = 0; next = 0 }

let of_string s =
  let given = ref 0 in
  create (fun b pos len ->
      let n = Int.min len (String.length s - !given) in
      Bytes.blit_string s !given b pos n;
      given := !given + n;
      n)

(* --- The buffer ----------------------------------------------------------------- *)

let[@inline] length t = t.next - t.first

(* Makes room behind [next]. The bytes in the buffer are moved only if they fill at most half
   of it. Otherwise the buffer grows. *)
let make_room t =
  let n = length t and size = Bytes.length t.buffer in
  if n = 0 || t.next = size then begin
    let wanted =
      if size = 0 then Int.min t.size first_size
      else if n = 0 then Int.min t.size (4 * size)
      else if 2 * n <= size then size
      else 2 * size
    in
    let buffer = if wanted = size then t.buffer else Bytes.create wanted in
    Bytes.blit t.buffer t.first buffer 0 n;
    t.buffer <- buffer;
    t.first <- 0;
    t.next <- n
  end

let refill t =
  make_room t;
  let n = t.read t.buffer t.next (Bytes.length t.buffer - t.next) in
  t.next <- t.next + n;
  n > 0

let rec filled t n = length t >= n || (refill t && filled t n)

let ensure t n =
  check "ensure" n;
  filled t n

let get t i =
  if i < 0 || i >= length t then
    invalid "get" "the buffer has %d bytes, and no byte %d" (length t) i;
  Bytes.get t.buffer (t.first + i)

let view t f = f t.buffer t.first (length t)

let consume t n =
  if n < 0 || n > length t then
    invalid "consume" "the buffer has %d bytes, not %d" (length t) n;
  t.first <- t.first + n

let unconsume t n =
  check "unconsume" n;
  n <= t.first
  && begin
    t.first <- t.first - n;
    true
  end

let clear t =
  t.first <- 0;
  t.next <- 0

let sub t n = Bytes.sub_string t.buffer t.first n

let peek t n =
  check "peek" n;
  ignore (filled t n : bool);
  sub t (Int.min n (length t))

(* --- Reading -------------------------------------------------------------------- *)

let at_end t = not (filled t 1)

let taken t n =
  let s = sub t n in
  t.first <- t.first + n;
  s

let read t b pos len =
  if pos < 0 || len < 0 || pos > Bytes.length b - len then
    invalid "read" "%d bytes from %d are not in the %d bytes" len pos
      (Bytes.length b);
  if length t = 0 && len >= t.size then begin
    let n = t.read b pos len in
    clear t;
    n
  end
  else begin
    if len > 0 && length t = 0 then ignore (refill t : bool);
    let n = Int.min len (length t) in
    Bytes.blit t.buffer t.first b pos n;
    t.first <- t.first + n;
    n
  end

let char t =
  if not (filled t 1) then raise End_of_file;
  let c = Bytes.get t.buffer t.first in
  t.first <- t.first + 1;
  c

let take t n =
  check "take" n;
  if not (filled t n) then raise End_of_file;
  taken t n

let rec skip t n =
  check "skip" n;
  let here = Int.min n (length t) in
  t.first <- t.first + here;
  if here < n then if refill t then skip t (n - here) else raise End_of_file

(* The number of bytes before the first one that [f] refuses, where it has accepted [seen]. *)
let rec scan ~max f t seen =
  if seen > max then too_long "Reader.take_while" max
  else if t.first + seen = t.next && not (refill t) then seen
  else if f (Bytes.get t.buffer (t.first + seen)) then scan ~max f t (seen + 1)
  else seen

let take_while ~max f t =
  check "take_while" max;
  taken t (scan ~max f t 0)

(* The number of bytes before the first [c], where [seen] are known to differ. If there is no [c]
   before the end of the input, it is [lnot] of the number of all bytes. *)
let rec find operation ~max c t seen =
  let rec from i =
    if i = t.next then -1
    else if Bytes.unsafe_get t.buffer i = c then i
    else from (i + 1)
  in
  match from (t.first + seen) with
  | -1 ->
      let seen = length t in
      if seen > max then too_long operation max
      else if refill t then find operation ~max c t seen
      else lnot seen
  | i ->
      let n = i - t.first in
      if n > max then too_long operation max else n

let through operation ~max c t =
  let n = find operation ~max c t 0 in
  if n >= 0 then begin
    let s = taken t n in
    t.first <- t.first + 1;
    s
  end
  else if n = lnot 0 then raise End_of_file
  else taken t (lnot n)

let until ~max c t =
  check "until" max;
  through "Reader.until" ~max c t

let line ~max t =
  check "line" max;
  let s = through "Reader.line" ~max '\n' t in
  let n = String.length s in
  if n > 0 && s.[n - 1] = '\r' then String.sub s 0 (n - 1) else s

let rec rest ~max t =
  check "rest" max;
  if length t > max then too_long "Reader.rest" max
  else if refill t then rest ~max t
  else taken t (length t)
