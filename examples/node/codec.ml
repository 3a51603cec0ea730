exception Malformed of string

let malformed format =
  Printf.ksprintf (fun text -> raise (Malformed text)) format

(* --- Encoding --- *)

let encode write v =
  let buffer = Buffer.create 256 in
  write buffer v;
  Buffer.contents buffer

let write_byte = Buffer.add_uint8
let write_int buffer n = Buffer.add_int64_be buffer (Int64.of_int n)

let write_length buffer n =
  if n > 0x3fff_ffff then invalid_arg "Codec: the value is longer than 2^30 - 1";
  Buffer.add_int32_be buffer (Int32.of_int n)

let write_string buffer text =
  write_length buffer (String.length text);
  Buffer.add_string buffer text

let write_list write buffer items =
  write_length buffer (List.length items);
  List.iter (write buffer) items

(* --- Decoding --- *)

type input = { text : string; mutable next : int }

let left input = String.length input.text - input.next

(* Checks that [n] bytes are left, and returns the position of the first one. *)
let advance input n =
  if n > left input then
    malformed "%d bytes expected at position %d, but only %d are left" n
      input.next (left input);
  let start = input.next in
  input.next <- start + n;
  start

let decode read text =
  let input = { text; next = 0 } in
  let v = read input in
  if left input > 0 then malformed "%d bytes are left over" (left input);
  v

let read_byte input = String.get_uint8 input.text (advance input 1)

let read_int input =
  let wide = String.get_int64_be input.text (advance input 8) in
  let n = Int64.to_int wide in
  if Int64.of_int n <> wide then malformed "%Ld does not fit into an int" wide;
  n

let read_length input =
  let n = Int32.to_int (String.get_int32_be input.text (advance input 4)) in
  if n < 0 || n > left input then
    malformed "the length is %d, but %d bytes are left" n (left input);
  n

let read_string input =
  let n = read_length input in
  String.sub input.text (advance input n) n

let read_list read input =
  let rec go n items =
    if n = 0 then List.rev items else go (n - 1) (read input :: items)
  in
  go (read_length input) []
