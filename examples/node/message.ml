type t = Block of Block.t | Wanted of string | Transaction of string

let write buffer = function
  | Block block ->
      Codec.write_byte buffer 0;
      Block.write buffer block
  | Wanted hash ->
      Codec.write_byte buffer 1;
      Codec.write_string buffer hash
  | Transaction text ->
      Codec.write_byte buffer 2;
      Codec.write_string buffer text

let read input =
  match Codec.read_byte input with
  | 0 -> Block (Block.read input)
  | 1 -> Wanted (Codec.read_string input)
  | 2 -> Transaction (Codec.read_string input)
  | tag -> Codec.malformed "%d is not the first byte of any message" tag
