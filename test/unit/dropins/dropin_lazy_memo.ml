(* Prints which values are computed, and when. *)

let say fmt = Printf.printf (fmt ^^ "\n")
let state t = if Lazy.is_val t then "forced" else "not forced"

(* Each entry of the table needs other entries. *)
let distance a b =
  let n = String.length a and m = String.length b in
  let entries = ref 0 in
  let table = Array.make_matrix (n + 1) (m + 1) (Lazy.from_val 0) in
  let at i j = Lazy.force table.(i).(j) in
  let compute i j () =
    incr entries;
    if i = 0 then j
    else if j = 0 then i
    else if a.[i - 1] = b.[j - 1] then at (i - 1) (j - 1)
    else 1 + min (at (i - 1) (j - 1)) (min (at (i - 1) j) (at i (j - 1)))
  in
  for i = 0 to n do
    for j = 0 to m do
      table.(i).(j) <- Lazy.from_fun (compute i j)
    done
  done;
  let d = at n m in
  say "%s to %s: %d, %d entries" a b d !entries;
  let entry = table.(n).(m) in
  say "the last one is %s" (state entry)

let mapping () =
  let traced name v =
    Lazy.from_fun (fun () ->
        say "  computes %s" name;
        v)
  in
  let a = traced "a" 1 in
  let double = Lazy.map (fun v -> 2 * v) a in
  let triple = Lazy.map_val (fun v -> 3 * v) a in
  say "a %s, double %s, triple %s" (state a) (state double) (state triple);
  say "double: %d" (Lazy.force double);
  say "a %s, double %s, triple %s" (state a) (state double) (state triple);
  say "triple: %d" (Lazy.force_val triple);
  let later =
    Lazy.map
      (fun v ->
        say "  maps";
        v + 1)
      a
  in
  say "map of a forced one: %s" (state later);
  let at_once =
    Lazy.map_val
      (fun v ->
        say "  maps";
        v + 1)
      a
  in
  say "map_val of a forced one: %s" (state at_once);
  say "they are %d and %d" (Lazy.force later) (Lazy.force at_once);
  let list = List.map Lazy.from_fun [ (fun () -> 1); (fun () -> 2) ] in
  say "sum: %d" (List.fold_left (fun n t -> n + Lazy.force t) 0 list)

let () =
  distance "kitten" "sitting";
  distance "concord" "concord";
  mapping ()
