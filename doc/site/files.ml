let ( / ) = Filename.concat
let read file = In_channel.with_open_bin file In_channel.input_all

let rec make_folder folder =
  if not (Sys.file_exists folder) then begin
    make_folder (Filename.dirname folder);
    Sys.mkdir folder 0o777
  end

let write file text =
  make_folder (Filename.dirname file);
  Out_channel.with_open_bin file (fun output -> output_string output text)

let all folder suffix =
  let rec within path =
    let entries = Sys.readdir (folder / path) in
    Array.sort compare entries;
    Array.to_list entries
    |> List.concat_map (fun name ->
        let path = if path = "" then name else path / name in
        if Sys.is_directory (folder / path) then within path
        else if String.ends_with ~suffix name then [ path ]
        else [])
  in
  within ""
