let finally leave t f x =
  match f x with
  | v ->
      leave t;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      (try leave t with Unix.Unix_error _ | Sys_error _ -> ());
      Printexc.raise_with_backtrace e backtrace

let rec completed f t =
  try f t with
  | (Unix.Unix_error _ | Sys_error _) as e -> raise e
  | e ->
      let backtrace = Printexc.get_raw_backtrace () in
      completed f t;
      Printexc.raise_with_backtrace e backtrace
