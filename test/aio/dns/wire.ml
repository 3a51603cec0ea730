(* Encodes messages as a server does, with compression. *)

open Concord_dns__Message

let encode (m : t) =
  let b = Buffer.create 512 and seen = Hashtbl.create 10 in
  let u16 = Buffer.add_uint16_be b in
  let u32 n =
    u16 (n lsr 16);
    u16 (n land 0xffff)
  in
  let rec name = function
    | [] -> Buffer.add_uint8 b 0
    | label :: rest as labels -> (
        match Hashtbl.find_opt seen labels with
        | Some pos -> u16 (0xc000 lor pos)
        | None ->
            if Buffer.length b < 0x4000 then
              Hashtbl.add seen labels (Buffer.length b);
            Buffer.add_uint8 b (String.length label);
            Buffer.add_string b label;
            name rest)
  in
  let labels = name in
  let name s = labels (String.split_on_char '.' s) in
  let code_of_kind = function A -> 1 | Aaaa -> 28 in
  let address kind a =
    let s = Unix.string_of_inet_addr a in
    match kind with
    | A ->
        List.iter
          (fun n -> Buffer.add_uint8 b (int_of_string n))
          (String.split_on_char '.' s)
    | Aaaa ->
        (* Inserts the groups that [::] leaves out. *)
        let groups s = if s = "" then [] else String.split_on_char ':' s in
        let groups =
          match Str.bounded_split_delim (Str.regexp_string "::") s 2 with
          | [ l; r ] ->
              let l = groups l and r = groups r in
              l
              @ List.init (8 - List.length l - List.length r) (fun _ -> "0")
              @ r
          | _ -> groups s
        in
        List.iter (fun g -> u16 (int_of_string ("0x" ^ g))) groups
  in
  let record r =
    name r.name;
    u16
      (match r.data with
      | Address (kind, _) -> code_of_kind kind
      | Alias _ -> 5
      | Authority _ -> 6
      | Name_server -> 2
      | Other -> 16);
    u16 1;
    u32 r.ttl;
    let start = Buffer.length b in
    (* Names in the data may refer to earlier names, so its length is only known afterwards. *)
    u16 0;
    (match r.data with
    | Address (kind, a) -> address kind a
    | Alias target -> name target
    | Authority minimum ->
        name "ns.test";
        (* A mail address whose local part has a dot. *)
        labels [ "first.last"; "test" ];
        List.iter u32 [ 1; 2; 3; 4; minimum ]
    | Name_server -> name "ns.test"
    | Other -> Buffer.add_string b "\003abc");
    let length = Buffer.length b - start - 2 in
    let whole = Buffer.to_bytes b in
    Bytes.set_uint16_be whole start length;
    Buffer.clear b;
    Buffer.add_bytes b whole
  in
  u16 m.id;
  u16
    ((if m.is_response then 0x8100 else 0x0100)
    lor (if m.is_authoritative then 0x0400 else 0)
    lor (if m.is_truncated then 0x0200 else 0)
    lor (if m.is_recursive then 0x0080 else 0)
    lor m.code);
  u16 (List.length m.questions);
  u16 (List.length m.answers);
  u16 (List.length m.authority);
  u16 0;
  List.iter
    (fun (s, kind) ->
      name s;
      u16 (match kind with Some kind -> code_of_kind kind | None -> 16);
      u16 1)
    m.questions;
  List.iter record m.answers;
  List.iter record m.authority;
  Buffer.contents b
