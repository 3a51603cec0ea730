let end_ = "<!-- end -->"

let name_of line =
  Scanf.sscanf_opt line "<!-- measured: %[a-z0-9-] -->%!" Fun.id

exception Unknown of string

let text results document =
  let rec copy = function
    | [] -> []
    | line :: rest -> (
        match name_of line with
        | None -> line :: copy rest
        | Some name -> (
            match List.assoc_opt name Tables.all with
            | None -> raise (Unknown ("there is no table " ^ name))
            | Some part -> (line :: "" :: lines (part results)) @ skip name rest
            ))
  and lines part = String.split_on_char '\n' (String.trim part) @ [ "" ]
  and skip name = function
    | [] -> raise (Unknown ("the table " ^ name ^ " has no end"))
    | line :: rest when line = end_ -> line :: copy rest
    | _ :: rest -> skip name rest
  in
  String.concat "\n" (copy (String.split_on_char '\n' document))

let file results name =
  let document = In_channel.with_open_text name In_channel.input_all in
  let filled =
    try text results document
    with Unknown reason | Line.Contradiction reason ->
      failwith (name ^ ": " ^ reason)
  in
  Out_channel.with_open_text name (fun channel -> output_string channel filled)
