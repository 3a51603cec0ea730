(* Tests the turns of a comparison. Results are by row, and no row has a fixed position. The
   rate is determined once in each turn, before its rows, which all get it. *)

let rows = 4
let turns = 200

(* How many times the rate was determined. *)
let asked = ref 0

(* Returns the order in which the rows of a turn were measured. *)
let order_of_turn random =
  let order = ref [] in
  let row i rate =
    order := i :: !order;
    (i, rate)
  in
  let rate () =
    if !order <> [] then failwith "the rate was determined between two rows";
    incr asked;
    float !asked
  in
  let before = !asked in
  let offered, results =
    Concord_bench.Measure.turn random ~rate (List.init rows row)
  in
  if !asked <> before + 1 then
    failwith "the rate was not determined exactly once in a turn";
  if offered <> float !asked then
    failwith "the result has a different rate from that of the turn";
  if results <> Array.init rows (fun i -> (i, offered)) then
    failwith "a result belongs to another row, or to another rate";
  List.rev !order

let rec pairs = function
  | a :: (b :: _ as rest) -> (a, b) :: pairs rest
  | [ _ ] | [] -> []

let () =
  let random = Random.State.make [||] in
  let orders = List.init turns (fun _ -> order_of_turn random) in
  let firsts = List.map List.hd orders in
  let neighbours = List.concat_map pairs orders in
  for i = 0 to rows - 1 do
    if not (List.mem i firsts) then failwith "a row is never first in a turn";
    for j = 0 to rows - 1 do
      if i <> j && not (List.mem (i, j) neighbours) then
        failwith "a row is never followed by another row"
    done
  done
