type t = {
  servers : Unix.inet_addr list;
  search : string list;
  ndots : int;
  timeout : int;
  attempts : int;
}

let most_servers = 3

let default =
  { servers = []; search = []; ndots = 1; timeout = 5; attempts = 2 }

let address s =
  match Unix.inet_addr_of_string s with
  | address -> Some address
  | exception Failure _ -> None

(* The root can't be searched. *)
let domain name =
  match Message.name_of_string name with "" -> None | name -> Some name

(* [int_of_string_opt] would read [0x10] and [1_0] too. *)
let number s =
  if s <> "" && String.length s < 10 && String.for_all Message.is_digit s then
    Some (int_of_string s)
  else None

let option t word =
  let within least most n = max least (min most n) in
  match String.split_on_char ':' word with
  | [ name; value ] -> (
      match (name, number value) with
      | "ndots", Some n -> { t with ndots = within 0 15 n }
      | "timeout", Some n -> { t with timeout = within 1 30 n }
      | "attempts", Some n -> { t with attempts = within 1 5 n }
      | _ -> t)
  | _ -> t

let line t line =
  match Words.of_line ~comment:[ '#'; ';' ] line with
  | "nameserver" :: server :: _ ->
      { t with servers = t.servers @ Option.to_list (address server) }
  | "search" :: domains -> { t with search = List.filter_map domain domains }
  | "domain" :: name :: _ -> { t with search = Option.to_list (domain name) }
  | "options" :: words -> List.fold_left option t words
  | _ -> t

let of_lines lines =
  let t = List.fold_left line default lines in
  match List.filteri (fun i _ -> i < most_servers) t.servers with
  | [] -> { t with servers = [ Unix.inet_addr_loopback ] }
  | servers -> { t with servers }
