let at_most n ~spare descriptor =
  let rec copy left copies =
    if left = 0 then copies
    else
      match Unix.dup ~cloexec:true descriptor with
      | another -> copy (left - 1) (another :: copies)
      | exception Unix.Unix_error ((EMFILE | ENFILE), _, _) -> copies
  in
  let copies = copy (n + spare) [] in
  List.iter Unix.close copies;
  max 1 (List.length copies - spare)
