module By_name = Map.Make (String)

type t = Unix.inet_addr list By_name.t

let find t name = Option.value (By_name.find_opt name t) ~default:[]

let line t line =
  match Words.of_line line with
  | [] -> t
  | first :: names -> (
      match Unix.inet_addr_of_string first with
      | exception Failure _ -> t
      | address ->
          List.fold_left
            (fun t name ->
              let name = Message.name_of_string name in
              By_name.add name (find t name @ [ address ]) t)
            t names)

let of_lines lines = List.fold_left line By_name.empty lines
