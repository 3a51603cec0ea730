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
    if !order <> [] then failwith "the rate is asked for between two rows";
    incr asked;
    float !asked
  in
  let before = !asked in
  let offered, results =
    Concord_bench.Measure.turn random ~rate (List.init rows row)
  in
  if !asked <> before + 1 then failwith "the rate is not asked for once";
  if offered <> float !asked then failwith "another rate than the turn's";
  if results <> Array.init rows (fun i -> (i, offered)) then
    failwith "a result of another row, or of another rate";
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
    if not (List.mem i firsts) then failwith "a row that is never first";
    for j = 0 to rows - 1 do
      if i <> j && not (List.mem (i, j) neighbours) then
        failwith "a row that another one never follows"
    done
  done
