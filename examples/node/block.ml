type t = {
  height : int;
  parent : string;
  transactions : string list;
  nonce : int;
  hash : string;
}

exception Invalid of string

let invalid format = Printf.ksprintf (fun text -> raise (Invalid text)) format

(* The hash is computed from the encoding, in which the nonce comes last. So a search encodes
   the other fields only once. *)

let write_header buffer (height, parent, transactions) =
  Codec.write_int buffer height;
  Codec.write_string buffer parent;
  Codec.write_list Codec.write_string buffer transactions

let hash ~header ~nonce =
  Digest.BLAKE256.(
    to_hex (string (header ^ Codec.encode Codec.write_int nonce)))

let write buffer t =
  write_header buffer (t.height, t.parent, t.transactions);
  Codec.write_int buffer t.nonce

let read input =
  let height = Codec.read_int input in
  let parent = Codec.read_string input in
  let transactions = Codec.read_list Codec.read_string input in
  let nonce = Codec.read_int input in
  let header = Codec.encode write_header (height, parent, transactions) in
  { height; parent; transactions; nonce; hash = hash ~header ~nonce }

let genesis =
  let header = Codec.encode write_header (0, "", []) in
  let hash = hash ~header ~nonce:0 in
  { height = 0; parent = ""; transactions = []; nonce = 0; hash }

let max_transactions = 100

let check_transaction text =
  let length = String.length text in
  if length = 0 || length > 1000 then
    invalid "a transaction of %d bytes, but only 1 to 1000 are allowed" length

let is_small ~difficulty hash =
  String.for_all (Char.equal '0') (String.sub hash 0 difficulty)

let check ~difficulty t =
  let count = List.length t.transactions in
  if t <> genesis && not (is_small ~difficulty t.hash) then
    invalid "the hash %s" t.hash;
  if count > max_transactions then invalid "%d transactions" count;
  if List.length (List.sort_uniq compare t.transactions) < count then
    invalid "a block has the same transaction twice";
  List.iter check_transaction t.transactions

let search ~continue ~difficulty ~parent transactions =
  let height = parent.height + 1 and parent = parent.hash in
  let header = Codec.encode write_header (height, parent, transactions) in
  let rec from nonce =
    if nonce land 0xff = 0 then continue ();
    let hash = hash ~header ~nonce in
    if is_small ~difficulty hash then
      { height; parent; transactions; nonce; hash }
    else from (nonce + 1)
  in
  from (Random.bits ())
