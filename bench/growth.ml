type t = {
  largest : int;
  most : float;
  exponent : float;
  grown : (int * float) list;
}

let size case =
  List.hd (List.rev (String.split_on_char '-' case)) |> int_of_string

(* If memory is no longer in a cache, reading it is slower. That isn't a growth of the work,
   and it is limited. *)
let limit size = if size <= 10_000 then 3. else 10.

let of_sizes points =
  let first, base = List.hd points in
  let times = List.map (fun (size, cost) -> (size, cost /. base)) points in
  let largest, last = List.hd (List.rev times) in
  {
    largest;
    most = List.fold_left (fun most (_, times) -> Float.max most times) 1. times;
    exponent =
      Float.log last /. Float.log (float_of_int largest /. float_of_int first);
    grown = List.filter (fun (size, times) -> times > limit size) times;
  }

let is_flat t = t.grown = []

let text t =
  if is_flat t then
    Printf.sprintf "flat: at most %.1fx, up to %d" t.most t.largest
  else
    let at (size, times) = Printf.sprintf "%.1fx at %d" times size in
    Printf.sprintf "grows: %s; as n^%.2f"
      (String.concat ", " (List.map at t.grown))
      t.exponent
