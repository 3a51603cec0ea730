let runs = ref 11
let seconds = ref 0.05

let time f =
  let start = Unix.gettimeofday () in
  let rec go n =
    f ();
    if n land 15 = 0 then
      let passed = Unix.gettimeofday () -. start in
      if passed < !seconds then go (n + 1) else passed /. float n *. 1e6
    else go (n + 1)
  in
  go 1

let quartile sorted n = sorted.(n * (Array.length sorted - 1) / 4)

let measure title rows =
  Printf.printf "%s\n" title;
  let samples = List.map (fun (name, f) -> (name, f, ref [])) rows in
  for _ = 1 to !runs do
    List.iter (fun (_, f, times) -> times := time f :: !times) samples
  done;
  let show (name, _, times) =
    let sorted = Array.of_list (List.sort compare !times) in
    Printf.printf "  %-32s %8.2f us [%.2f %.2f]\n%!" name (quartile sorted 2)
      (quartile sorted 1) (quartile sorted 3)
  in
  List.iter show samples

let parse name =
  Arg.parse
    [
      ("--runs", Arg.Set_int runs, "N how many");
      ("--seconds", Arg.Set_float seconds, "S of each run");
    ]
    (fun other -> raise (Arg.Bad other))
    (name ^ " [--runs N] [--seconds S]")
