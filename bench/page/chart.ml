open Results

type t = { file : string; plot : Plot.t }

let distinct list =
  List.fold_left (fun xs x -> if List.mem x xs then xs else x :: xs) [] list
  |> List.rev

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

let curves ~file ~x ~group ~prefix ?scale ~only results =
  let numbered =
    List.filter_map
      (fun (row : row) ->
        match split row.case with
        | Some (p, n) when p = prefix && row.group = group && only row ->
            Some (n, row)
        | Some _ | None -> None)
      (rows results)
  in
  let unit_ = match numbered with [] -> "" | (_, row) :: _ -> row.unit_ in
  let by, y = Option.value scale ~default:(1., unit_) in
  let point n row =
    let low, median, high = quartiles row in
    { Plot.x = n; low = low /. by; y = median /. by; high = high /. by }
  in
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
    let names = distinct (List.map (fun (_, row) -> name row) numbered) in
    [
      {
        file;
        plot =
          {
            Plot.x = Numbers x;
            y;
            level = None;
            series = List.map series names;
          };
      };
    ]

(* --- Times of the baseline --- *)

let times ~file ~group ?(series = name) cases ~only results =
  let comparisons =
    Option.value ~default:[] (List.assoc_opt group (groups results))
  in
  let rows_of (case, label) =
    List.concat_map
      (fun c ->
        List.filter
          (fun row -> row.case = case && only row)
          (c.baseline :: c.others)
        |> List.filter_map (fun row ->
            let line base = Line.of_row ~base row in
            Option.bind (base_of c row) line
            |> Option.map (fun line -> (series row, line))))
      comparisons
    |> fun lines -> (label, lines)
  in
  let cases = List.map rows_of cases in
  let point label name =
    let lines = List.assoc label cases in
    Option.map
      (fun ({ times = low, y, high; _ } : Line.t) ->
        { Plot.x = 0.; low; y; high })
      (List.assoc_opt name lines)
  in
  let names = distinct (List.concat_map (fun (_, l) -> List.map fst l) cases) in
  if names = [] then []
  else
    let plot =
      Plot.by_category ~level:1. ~y:"time, baseline = 1"
        ~categories:(List.map fst cases)
        (List.map (fun name -> (name, fun label -> point label name)) names)
    in
    [ { file; plot } ]
