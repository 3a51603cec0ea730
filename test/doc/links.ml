let rec pages folder =
  Sys.readdir folder |> Array.to_list |> List.sort compare
  |> List.concat_map (fun name ->
      let path = Filename.concat folder name in
      if Sys.is_directory path then pages path
      else if Filename.check_suffix name ".html" then [ path ]
      else [])

let read file = In_channel.with_open_bin file In_channel.input_all

let replace_all text (from, into) =
  let buffer = Buffer.create (String.length text) in
  let rec go i =
    match Texts.find text ~from:i ~part:from with
    | None ->
        Buffer.add_string buffer (String.sub text i (String.length text - i))
    | Some j ->
        Buffer.add_string buffer (String.sub text i (j - i));
        Buffer.add_string buffer into;
        go (j + String.length from)
  in
  go 0;
  Buffer.contents buffer

let decode_entities text =
  List.fold_left replace_all text
    [ ("&lt;", "<"); ("&gt;", ">"); ("&quot;", "\""); ("&#39;", "'") ]
  |> fun text -> replace_all text ("&amp;", "&")

let decode_percents text =
  let buffer = Buffer.create (String.length text) in
  let rec go i =
    if i < String.length text then
      match text.[i] with
      | '%' when i + 2 < String.length text ->
          let code = int_of_string ("0x" ^ String.sub text (i + 1) 2) in
          Buffer.add_char buffer (Char.chr code);
          go (i + 3)
      | c ->
          Buffer.add_char buffer c;
          go (i + 1)
  in
  go 0;
  Buffer.contents buffer

(* The values of an attribute. Code on a page contains no tags, because its quotes are
   entities. *)
let values attribute html =
  let start = Printf.sprintf " %s=\"" attribute in
  let rec from i =
    match Texts.find html ~from:i ~part:start with
    | None -> []
    | Some j -> (
        let first = j + String.length start in
        match String.index_from_opt html first '"' with
        | None -> []
        | Some last ->
            decode_entities (String.sub html first (last - first)) :: from last)
  in
  from 0

let is_elsewhere link =
  List.exists
    (fun prefix -> String.starts_with ~prefix link)
    [ "http:"; "https:"; "mailto:"; "data:" ]

let broken pages =
  let known = Hashtbl.create 100 in
  let places file =
    match Hashtbl.find_opt known file with
    | Some places -> places
    | None ->
        let places = values "id" (read file) in
        Hashtbl.add known file places;
        places
  in
  let fault page link =
    let path, place =
      match String.index_opt link '#' with
      | None -> (link, None)
      | Some i ->
          ( String.sub link 0 i,
            Some (String.sub link (i + 1) (String.length link - i - 1)) )
    in
    let path = decode_percents path in
    let file =
      if path = "" then page else Filename.concat (Filename.dirname page) path
    in
    if not (Sys.file_exists file && not (Sys.is_directory file)) then
      Some "there is no such file"
    else
      match place with
      | None | Some "" -> None
      | Some place ->
          let places = places file in
          if List.mem place places || List.mem (decode_percents place) places
          then None
          else Some "the file has no such place"
  in
  pages
  |> List.concat_map (fun page ->
      let html = read page in
      values "href" html @ values "src" html
      |> List.filter (fun link -> not (is_elsewhere link))
      |> List.filter_map (fun link ->
          fault page link
          |> Option.map (fun why -> Printf.sprintf "%s: %s: %s" page link why)))
