(* Fields 14 and 15 of the file are user and system time, in ticks of 10 ms. The second field
   is in parentheses, and may contain spaces and parentheses. *)
let seconds pid =
  let file = Printf.sprintf "/proc/%d/stat" pid in
  match In_channel.with_open_bin file In_channel.input_all with
  | exception Sys_error _ -> None
  | line -> (
      let after = String.rindex line ')' + 2 in
      let fields =
        String.split_on_char ' '
          (String.sub line after (String.length line - after))
      in
      match (List.nth_opt fields 11, List.nth_opt fields 12) with
      | Some user, Some system ->
          Some (float (int_of_string user + int_of_string system) /. 100.)
      | _ -> None)
