(* The cases that tools/strict.txt leaves out exist. Otherwise [./dev test --strict] stops at a line
   that is out of date, and nothing else runs that.

   The arguments are that file, and the sources of the tests. *)

let read file = In_channel.with_open_bin file In_channel.input_all

(* A name may be made of a host's name and of texts in the sources, such as "Eio: need not wait" or
   "each forces the next, in Fifo". *)
let parts text =
  String.split_on_char ':' text
  |> List.concat_map (String.split_on_char ',')
  |> List.map String.trim

let texts_of name =
  let without_host = List.hd (List.rev (String.split_on_char ':' name)) in
  parts without_host

let () =
  match List.tl (Array.to_list Sys.argv) with
  | [] -> Faults.add "no file was given"
  | left_out :: sources ->
      if List.length sources < 500 then
        Faults.add "only %d sources were found" (List.length sources);
      let texts = Hashtbl.create 100_000 in
      let add text =
        List.iter (fun part -> Hashtbl.replace texts part ()) (parts text)
      in
      List.iter
        (fun file -> List.iter add (String.split_on_char '"' (read file)))
        sources;
      let exists part = part = "*" || Hashtbl.mem texts part in
      let programs name =
        let is_it file = Filename.basename file = name ^ ".ml" in
        List.length (List.filter is_it sources)
      in
      let check line =
        match List.map String.trim (String.split_on_char '|' line) with
        | [ program; suite; case; _reason ] ->
            (match programs program with
            | 1 -> ()
            | 0 -> Faults.add "%s: there is no test %s" left_out program
            | n ->
                Faults.add "%s: %d tests are named %s, and the line is for all"
                  left_out n program);
            let check_text part =
              if not (exists part) then
                Faults.add "%s: no test has the text %S. Was the case deleted?"
                  left_out part
            in
            List.iter check_text (List.concat_map texts_of [ suite; case ])
        | _ -> Faults.add "%s: not a line of four fields: %s" left_out line
      in
      String.split_on_char '\n' (read left_out)
      |> List.filter (fun line -> line <> "" && line.[0] <> '#')
      |> List.iter check

let () = Faults.stop ()
