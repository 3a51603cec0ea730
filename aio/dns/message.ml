exception Malformed of string

type kind = A | Aaaa

let other = function A -> Aaaa | Aaaa -> A

type data =
  | Address of kind * Unix.inet_addr
  | Alias of string
  | Authority of int
  | Name_server
  | Other

type record = { name : string; ttl : int; data : data }

type t = {
  id : int;
  is_response : bool;
  is_authoritative : bool;
  is_truncated : bool;
  is_recursive : bool;
  code : int;
  questions : (string * kind option) list;
  answers : record list;
  authority : record list;
}

(* The largest number of bytes of a name. It counts the length of each label and the final 0. *)
let longest = 255
let code_of_kind = function A -> 1 | Aaaa -> 28
let class_in = 1

(* --- Writing ---------------------------------------------------------------- *)

let name_of_string s =
  let s = String.lowercase_ascii s in
  if String.ends_with ~suffix:"." s then String.sub s 0 (String.length s - 1)
  else s

let is_digit = function '0' .. '9' -> true | _ -> false

let is_label label =
  label <> ""
  && String.length label < 64
  && String.for_all
       (function
         | 'a' .. 'z' | 'A' .. 'Z' | '-' | '_' -> true | c -> is_digit c)
       label

let is_name name =
  let labels = String.split_on_char '.' name in
  String.length name <= longest - 2
  && List.for_all is_label labels
  && not (String.for_all is_digit (List.nth labels (List.length labels - 1)))

let query ~id name kind =
  if not (is_name name) then
    invalid_arg (Printf.sprintf "Message.query: %S is not a name" name);
  let b = Buffer.create 64 in
  Buffer.add_uint16_be b id;
  (* The flag "recursion desired". *)
  Buffer.add_uint16_be b 0x0100;
  List.iter (Buffer.add_uint16_be b) [ 1; 0; 0; 0 ];
  List.iter
    (fun label ->
      Buffer.add_uint8 b (String.length label);
      Buffer.add_string b label)
    (String.split_on_char '.' name);
  Buffer.add_uint8 b 0;
  Buffer.add_uint16_be b (code_of_kind kind);
  Buffer.add_uint16_be b class_in;
  Buffer.contents b

(* --- Reading ---------------------------------------------------------------- *)

(* Each function returns the value at a position, and the position behind it. *)

let check s pos length =
  if pos + length > String.length s then raise (Malformed "it ends too early")

let u8 s pos =
  check s pos 1;
  (String.get_uint8 s pos, pos + 1)

let u16 s pos =
  check s pos 2;
  (String.get_uint16_be s pos, pos + 2)

let u32 s pos =
  let high, pos = u16 s pos in
  let low, pos = u16 s pos in
  ((high lsl 16) lor low, pos)

(* Marks dots, so that the label [a.b] isn't taken for the labels [a] and [b]. *)
let escaped label =
  if String.exists (function '.' | '\\' -> true | _ -> false) label then
    String.to_seq label
    |> Seq.concat_map (function
      | ('.' | '\\') as c -> List.to_seq [ '\\'; c ]
      | c -> Seq.return c)
    |> String.of_seq
  else label

let most_pointers = 127

let name s pos =
  (* The labels in [labels], last one first, began at [start]. A pointer must lead to a place
     before that, so that there is no cycle. *)
  let rec from ~start ~pointers size labels pos =
    match u8 s pos with
    | 0, pos -> (labels, pos)
    | n, pos when n < 64 ->
        check s pos n;
        let size = size + n + 1 and label = String.sub s pos n in
        if size >= longest then raise (Malformed "a name is too long");
        from ~start ~pointers size (escaped label :: labels) (pos + n)
    | n, pos when n >= 192 ->
        let low, pos = u8 s pos in
        let target = ((n land 63) lsl 8) lor low in
        if target >= start then raise (Malformed "a pointer does not lead back");
        if pointers = most_pointers then
          raise (Malformed "a name has too many pointers");
        let labels, _ =
          from ~start:target ~pointers:(pointers + 1) size labels target
        in
        (labels, pos)
    | _ -> raise (Malformed "a label of an unknown type")
  in
  let labels, next = from ~start:pos ~pointers:0 0 [] pos in
  (String.lowercase_ascii (String.concat "." (List.rev labels)), next)

let ipv4 s pos =
  let byte i = String.get_uint8 s (pos + i) in
  Unix.inet_addr_of_string
    (Printf.sprintf "%d.%d.%d.%d" (byte 0) (byte 1) (byte 2) (byte 3))

let ipv6 s pos =
  let group i = Printf.sprintf "%x" (String.get_uint16_be s (pos + (2 * i))) in
  Unix.inet_addr_of_string (String.concat ":" (List.init 8 group))

let question s pos =
  let name, pos = name s pos in
  let code, pos = u16 s pos in
  let class_, pos = u16 s pos in
  let kind =
    match code with
    | 1 when class_ = class_in -> Some A
    | 28 when class_ = class_in -> Some Aaaa
    | _ -> None
  in
  ((name, kind), pos)

let positive n = if n land 0x8000_0000 = 0 then n else 0

let data s pos ~code ~length =
  match (code, length) with
  | 1, 4 -> Address (A, ipv4 s pos)
  | 2, _ -> Name_server
  | 28, 16 -> Address (Aaaa, ipv6 s pos)
  | 5, _ -> Alias (fst (name s pos))
  | 6, _ ->
      let _, pos = name s pos in
      let _, pos = name s pos in
      (* The 16 bytes before it are serial, refresh, retry and expire. *)
      Authority (positive (fst (u32 s (pos + 16))))
  | (1 | 28), _ -> raise (Malformed "an address of a wrong length")
  | _ -> Other

let record s pos =
  let name, pos = name s pos in
  let code, pos = u16 s pos in
  let class_, pos = u16 s pos in
  let ttl, pos = u32 s pos in
  let length, pos = u16 s pos in
  check s pos length;
  let data = if class_ = class_in then data s pos ~code ~length else Other in
  ({ name; ttl = positive ttl; data }, pos + length)

let several n read s pos =
  let rec more n all pos =
    if n = 0 then (List.rev all, pos)
    else
      let one, pos = read s pos in
      more (n - 1) (one :: all) pos
  in
  more n [] pos

let header_length = 12

(* The head, the numbers of answers and of records of the authority, and where these begin. *)
let read_head s =
  let id, pos = u16 s 0 in
  let flags, pos = u16 s pos in
  let count_questions, pos = u16 s pos in
  let count_answers, pos = u16 s pos in
  let count_authority, pos = u16 s pos in
  let _, pos = u16 s pos in
  (* A server that can't read a query may return its header alone, and leave the counts. *)
  let is_header_only = String.length s = header_length in
  let count n = if is_header_only then 0 else n in
  let questions, pos = several (count count_questions) question s pos in
  ( {
      id;
      is_response = flags land 0xf800 = 0x8000;
      is_authoritative = flags land 0x0400 <> 0;
      is_truncated = flags land 0x0200 <> 0;
      is_recursive = flags land 0x0080 <> 0;
      code = flags land 15;
      questions;
      answers = [];
      authority = [];
    },
    (count count_answers, count count_authority),
    pos )

let head s =
  let t, _, _ = read_head s in
  t

let decode s =
  let t, (count_answers, count_authority), pos = read_head s in
  if t.is_truncated then t
  else
    let answers, pos = several count_answers record s pos in
    let authority, _ = several count_authority record s pos in
    { t with answers; authority }
