let find ?(from = 0) text ~part =
  let length = String.length part in
  let rec at i =
    if i + length > String.length text then None
    else if String.sub text i length = part then Some i
    else at (i + 1)
  in
  at from

let contains text ~part = Option.is_some (find text ~part)
