let found = ref 0

let add format =
  Printf.ksprintf
    (fun text ->
      incr found;
      prerr_endline ("FAIL " ^ text))
    format

let stop () = if !found > 0 then exit 1
