type t =
  | Addresses of Unix.inet_addr list
  | Alias of string
  | No_address
  | No_such_name

(* Bounds for how long a record, and an absence, are kept, because a wrong one should not be kept
   for years. RFC 2308 says that an absence that is kept for a day makes trouble. *)
let longest = 86_400
let longest_absence = 10_800

let error_of_code = function
  | 1 -> "did not understand the question"
  | 2 -> "failed"
  | 4 -> "does not support this kind of question"
  | 5 -> "refused"
  | code -> Printf.sprintf "answered with the code %d" code

(* The results of [f] for the records of [name], and the smallest time to live of these and
   [ttl]. *)
let about name ttl f records =
  List.fold_right
    (fun (r : Message.record) (found, ttl) ->
      match if r.name = name then f r.data else None with
      | Some v -> (v :: found, min ttl r.ttl)
      | None -> (found, ttl))
    records ([], ttl)

(* How long the absence of an address may be kept. By RFC 2308, it must not be kept without a SOA
   record. *)
let absence (m : Message.t) ttl =
  List.find_map
    (fun (r : Message.record) ->
      match r.data with
      | Authority minimum ->
          Some (min (min ttl longest_absence) (min minimum r.ttl))
      | _ -> None)
    m.authority

(* A server that is not recursive, and knows nothing about the name, names other servers, or says
   nothing at all (a "lame" one). RFC 2308 tells a referral from an absence by the SOA record. *)
let refers (m : Message.t) =
  let is_name_server (r : Message.record) = r.data = Name_server in
  (not m.is_authoritative)
  && ((not m.is_recursive) || List.exists is_name_server m.authority)

let of_message ~name kind (m : Message.t) =
  let address = function
    | Message.Address (k, a) when k = kind -> Some a
    | _ -> None
  and alias = function Message.Alias target -> Some target | _ -> None in
  let no_name = m.code = 3 in
  (* Each alias needs a record of its own. So if there are more steps than records, the aliases
     form a cycle. *)
  let rec follow current ttl left =
    match about current ttl address m.answers with
    | (_ :: _ as addresses), ttl when not no_name ->
        Ok (Addresses addresses, ttl)
    | _ -> (
        match about current ttl alias m.answers with
        | target :: _, ttl when left > 0 -> follow target ttl (left - 1)
        | _ :: _, _ -> Error "gave aliases that form a cycle"
        | [], _ -> (
            match absence m ttl with
            | absence when no_name ->
                Ok (No_such_name, Option.value absence ~default:0)
            | Some ttl -> Ok (No_address, ttl)
            | None when current <> name -> Ok (Alias current, ttl)
            | None when refers m -> Error "refers to other servers"
            | None -> Ok (No_address, 0)))
  in
  match m.code with
  | 0 | 3 -> follow name longest (List.length m.answers)
  | code -> Error (error_of_code code)
