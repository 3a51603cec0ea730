(* Prints the lines for previews, and checks the size of the picture, if there is one. *)

let size_of png =
  let header =
    In_channel.with_open_bin png (fun c -> really_input_string c 24)
  in
  let number i = Int32.to_int (String.get_int32_be header i) in
  (number 16, number 20)

let () =
  let show address has_picture =
    print_string (Social.tags ~address ~has_picture ~path:"concord/eio.html")
  in
  show None true;
  show (Some "https://example.org/concord") false;
  print_newline ();
  show (Some "https://example.org/concord") true;
  Array.iteri
    (fun i png ->
      if i > 0 && size_of png <> (Social.width, Social.height) then
        Printf.printf "%s has another size\n" png)
    Sys.argv
