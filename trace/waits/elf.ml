(* The format is described in the manual page elf(5). All numbers are little-endian. *)

type t = {
  symbols : (string, int) Hashtbl.t;
      (** Those whose names begin with [caml]. *)
  addresses : int array;  (** Those of all symbols, in order. *)
  headers_at : int;
  extent : int * int;
}

let read_at file at length =
  let buffer = Bytes.create length in
  ignore (Unix.lseek file at SEEK_SET : int);
  let rec from done_ =
    if done_ < length then
      match Unix.read file buffer done_ (length - done_) with
      | 0 -> raise End_of_file
      | n -> from (done_ + n)
  in
  from 0;
  Bytes.unsafe_to_string buffer

let word text at = Int64.to_int (String.get_int64_le text at)
let half text at = Int32.to_int (String.get_int32_le text at) land 0xffff_ffff
let quarter = String.get_uint16_le

(* Numbers of the format *)
let x86_64 = 62
let loaded = 1
let all_symbols = 2
let dynamic_symbols = 11

let check_kind head =
  if String.length head < 20 || String.sub head 0 4 <> "\x7fELF" then
    Refused.refuse "its program isn't an ELF file";
  if Char.code head.[4] <> 2 || quarter head 18 <> x86_64 then
    Refused.refuse
      "its program isn't for x86-64. The layout of stacks is known for that \
       processor only, so start the program with CONCORD_DEBUG=sigquit instead"

(* Program headers of 56 bytes: the kind, and the address and the size in memory. *)
let segments head file =
  let count = quarter head 56 and size = quarter head 54 in
  let text = read_at file (word head 32) (count * size) in
  List.init count (fun i ->
      let at = i * size in
      ( half text at,
        word text (at + 8),
        word text (at + 16),
        word text (at + 40) ))

let sections head file =
  let count = quarter head 60 and size = quarter head 58 in
  let text = read_at file (word head 40) (count * size) in
  Array.init count (fun i ->
      let at = i * size in
      ( half text (at + 4),
        word text (at + 24),
        word text (at + 32),
        half text (at + 40) ))

let symbol_size = 24

let add_symbols file symbols addresses (_, at, size, _)
    (_, names_at, names_size, _) =
  let text = read_at file at size
  and names = read_at file names_at names_size in
  for i = 0 to (size / symbol_size) - 1 do
    let at = i * symbol_size in
    let address = word text (at + 8) and name = half text at in
    if address <> 0 then begin
      addresses := address :: !addresses;
      if
        name + 4 < names_size
        && names.[name] = 'c'
        && String.sub names name 4 = "caml"
      then
        let stop = String.index_from names name '\000' in
        Hashtbl.replace symbols (String.sub names name (stop - name)) address
    end
  done

let of_file file =
  let head = read_at file 0 64 in
  check_kind head;
  let segments = segments head file in
  let loaded = List.filter (fun (kind, _, _, _) -> kind = loaded) segments in
  let first =
    List.fold_left (fun least (_, _, at, _) -> Int.min least at) max_int loaded
  and after =
    List.fold_left
      (fun most (_, _, at, size) -> Int.max most (at + size))
      0 loaded
  in
  (* The headers are in the part that has their place in the file. *)
  let headers = word head 32 in
  let headers_at =
    List.find_map
      (fun (_, offset, at, size) ->
        if offset <= headers && headers < offset + size then
          Some (at + headers - offset)
        else None)
      loaded
    |> Option.value ~default:headers
  in
  let symbols = Hashtbl.create 10_000 and addresses = ref [] in
  let sections = if word head 40 = 0 then [||] else sections head file in
  let add kind =
    Array.iter
      (fun ((found, _, _, names) as section) ->
        if found = kind && names < Array.length sections then
          add_symbols file symbols addresses section sections.(names))
      sections
  in
  add all_symbols;
  (* strip leaves these *)
  if !addresses = [] then add dynamic_symbols;
  let addresses = Array.of_list !addresses in
  Array.sort Int.compare addresses;
  { symbols; addresses; headers_at; extent = (first, after) }

let read path =
  match Unix.openfile path [ O_RDONLY; O_CLOEXEC ] 0 with
  | exception Unix.Unix_error (error, _, _) ->
      Refused.refuse "cannot read %s (%s)" path (Unix.error_message error)
  | file ->
      Fun.protect
        ~finally:(fun () -> Unix.close file)
        (fun () ->
          match of_file file with
          | t -> t
          | exception
              (End_of_file | Unix.Unix_error _ | Not_found | Invalid_argument _)
            ->
              Refused.refuse "the ELF file %s is damaged" path)

let symbol t name = Hashtbl.find_opt t.symbols name

let after { addresses; _ } address =
  (* the first one that is greater *)
  let rec search low high =
    if low = high then low
    else
      let middle = (low + high) / 2 in
      if addresses.(middle) <= address then search (middle + 1) high
      else search low middle
  in
  let i = search 0 (Array.length addresses) in
  if i < Array.length addresses then addresses.(i) else max_int

let headers_at t = t.headers_at
let extent t = t.extent
