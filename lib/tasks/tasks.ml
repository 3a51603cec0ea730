let yield = Suspend.yield

(* Each has its value: [Scope.run] has raised unless all have returned. *)
let keep cell f () = cell := Some (f ())

let both f g =
  let first = ref None in
  let second =
    Scope.run (fun scope ->
        Scope.fork scope (keep first f);
        g ())
  in
  (Option.get !first, second)

let rec start scope = function
  | [] -> ()
  | [ (f, cell) ] -> keep cell f ()
  | (f, cell) :: rest ->
      Scope.fork scope (keep cell f);
      start scope rest

let all fs =
  let tasks = List.map (fun f -> (f, ref None)) fs in
  Scope.run (fun scope -> start scope tasks);
  List.map (fun (_, cell) -> Option.get !cell) tasks
