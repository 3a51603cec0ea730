let of_line ?(comment = [ '#' ]) line =
  let stop =
    List.fold_left
      (fun stop c ->
        Option.fold ~none:stop ~some:(min stop) (String.index_opt line c))
      (String.length line) comment
  in
  String.sub line 0 stop
  |> String.map (function '\t' | '\r' -> ' ' | c -> c)
  |> String.split_on_char ' '
  |> List.filter (( <> ) "")
