(* Turns of a comparison: results are by row, and no row has a place of its own. *)

let rows = 4
let turns = 200

(* The order in which the rows of one turn were measured. *)
let order_of_turn random =
  let order = ref [] in
  let row i () =
    order := i :: !order;
    i
  in
  let results = Concord_bench.Measure.turn random (List.init rows row) in
  if results <> Array.init rows Fun.id then failwith "a result of another row";
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
