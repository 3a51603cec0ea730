open Results

type t = { file : string; caption : string; plot : Plot.t }
type printed = { subject : Claim.subject; value : float; text : string }

let any (_ : row) = true

let distinct list =
  List.fold_left (fun xs x -> if List.mem x xs then xs else x :: xs) [] list
  |> List.rev

let names rows = distinct (List.map Results.name rows)
let unit_of = function [] -> "" | row :: _ -> row.unit_

let label_of = function
  | "ns" -> "ns for one operation"
  | "bytes" -> "bytes"
  | "req/s" -> "requests per second"
  | unit_ -> unit_

let point x row =
  let low, y, high = row.quartiles in
  { Plot.x; low; y; high }

(* --- Curves --- *)

(* A case PREFIX-NUMBER. *)
let split case =
  match String.rindex_opt case '-' with
  | None -> None
  | Some i ->
      let number = String.sub case (i + 1) (String.length case - i - 1) in
      Option.map
        (fun n -> (String.sub case 0 i, n))
        (float_of_string_opt number)

let curves ~file ~caption ~x ~group ~prefix ?(only = any) (results : Results.t)
    =
  let numbered =
    List.filter_map
      (fun (row : row) ->
        match split row.case with
        | Some (p, n) when p = prefix && row.group = group && only row ->
            Some (n, row)
        | Some _ | None -> None)
      results.rows
  in
  let rows = List.map snd numbered in
  let series name =
    let points =
      List.filter (fun (_, row) -> Results.name row = name) numbered
      |> List.map (fun (n, row) -> point n row)
      |> List.sort (fun (p : Plot.point) (q : Plot.point) ->
          Float.compare p.x q.x)
    in
    { Plot.name; points }
  in
  if List.length (distinct (List.map fst numbered)) < 2 then []
  else
    let plot =
      {
        Plot.x = Numbers x;
        y = label_of (unit_of rows);
        level = None;
        series = List.map series (names rows);
      }
    in
    [ { file; caption; plot } ]

(* --- Cases side by side --- *)

let find rows case name =
  List.find_opt (fun (r : row) -> r.case = case && Results.name r = name) rows

let cases ~file ~caption ~group ~cases ?(only = any) ?(printed = [])
    (results : Results.t) =
  let rows =
    List.filter
      (fun (row : row) ->
        row.group = group && List.mem row.case cases && only row)
      results.rows
  in
  let measured name =
    (name, fun case -> Option.map (point 0.) (find rows case name))
  in
  let from_paper name =
    let value case =
      List.find_map
        (fun { subject = s; value; _ } ->
          if s.group = group && s.case = case && s.row = name then
            Some { Plot.x = 0.; low = value; y = value; high = value }
          else None)
        printed
    in
    (name ^ ", the paper's", value)
  in
  let printed_names =
    distinct (List.map (fun p -> p.subject.Claim.row) printed)
  in
  if rows = [] then []
  else
    let plot =
      Plot.by_category
        ~y:(label_of (unit_of rows))
        ~categories:
          (List.filter
             (fun case -> List.exists (fun (r : row) -> r.case = case) rows)
             cases)
        (List.map measured (names rows) @ List.map from_paper printed_names)
    in
    [ { file; caption; plot } ]

(* --- Ratios --- *)

let ratios ?(series = Results.name) ~group (results : Results.t) =
  let name_of = series in
  let comparisons =
    Option.value ~default:[] (List.assoc_opt group (Results.groups results))
  in
  (* Cases of one name (in bytecode, too) follow one another. *)
  let category i (c : comparison) =
    Printf.sprintf "%s (%d)" c.baseline.case (i + 1)
  in
  let comparisons = List.mapi (fun i c -> (category i c, c)) comparisons in
  let rows =
    List.concat_map (fun (_, (c : comparison)) -> c.others) comparisons
  in
  let series name =
    let value category =
      let (c : comparison) = List.assoc category comparisons in
      let row = List.find_opt (fun row -> name_of row = name) c.others in
      Option.bind row (fun row -> Results.ratio row ~to_:c.baseline)
      |> Option.map (fun (low, y, high) -> { Plot.x = 0.; low; y; high })
    in
    (name, value)
  in
  if rows = [] then []
  else
    let plot =
      Plot.by_category ~level:1. ~y:"times as good as the baseline"
        ~categories:(List.map fst comparisons)
        (List.map series (distinct (List.map name_of rows)))
    in
    [
      {
        file = group ^ "-ratios";
        caption =
          "How many times better than the baseline of its table each row is: \
           above 1 is better. The numbers count the tables.";
        plot;
      };
    ]
