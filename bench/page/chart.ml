open Results

type t = { file : string; plot : Plot.t }

let distinct list =
  List.fold_left (fun xs x -> if List.mem x xs then xs else x :: xs) [] list
  |> List.rev

(* --- Curves --- *)

(* Splits a case that is named PREFIX-NUMBER. *)
let split case =
  match String.rindex_opt case '-' with
  | None -> None
  | Some i ->
      let number = String.sub case (i + 1) (String.length case - i - 1) in
      Option.map
        (fun n -> (String.sub case 0 i, n))
        (float_of_string_opt number)

let comparisons results group =
  Option.value ~default:[] (List.assoc_opt group (groups results))

(* As in the tables, the value is the median of the baseline times the ratio. *)
let point c n row =
  let of_line (line : Line.t) =
    let first, median, third = line.times in
    let at times =
      if row.more_is_better then line.absolute *. median /. times
      else line.absolute *. times /. median
    in
    let a = at first and b = at third in
    { Plot.x = n; low = Float.min a b; y = line.absolute; high = Float.max a b }
  in
  match base_of c row with
  | Some base -> Option.map of_line (Line.of_row ~base row)
  | None ->
      let low, y, high = quartiles row in
      Some { Plot.x = n; low; y; high }

let curves ~file ~x ~group ~prefix ?scale ~only results =
  let numbered c =
    List.filter_map
      (fun row ->
        match split row.case with
        | Some (p, n) when p = prefix && only row ->
            Option.map (fun point -> (row, point)) (point c n row)
        | Some _ | None -> None)
      (c.baseline :: c.others)
  in
  let points = List.concat_map numbered (comparisons results group) in
  let unit_ = match points with [] -> "" | (row, _) :: _ -> row.unit_ in
  let by, y = Option.value scale ~default:(1., unit_) in
  let scaled { Plot.x; low; y; high } =
    { Plot.x; low = low /. by; y = y /. by; high = high /. by }
  in
  let series name =
    {
      Plot.name;
      points =
        List.filter (fun (row, _) -> Results.name row = name) points
        |> List.map (fun (_, point) -> scaled point)
        |> List.sort (fun (p : Plot.point) (q : Plot.point) ->
            Float.compare p.x q.x);
    }
  in
  if
    List.length (distinct (List.map (fun (_, (p : Plot.point)) -> p.x) points))
    < 2
  then []
  else
    let names = distinct (List.map (fun (row, _) -> name row) points) in
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
  let of_case case c =
    let of_row row =
      let line base =
        Option.map
          (fun line -> (series row, name base, line))
          (Line.of_row ~base row)
      in
      Option.bind (base_of c row) line
    in
    List.filter (fun row -> row.case = case && only row) (c.baseline :: c.others)
    |> List.filter_map of_row
  in
  let lines =
    List.map
      (fun (case, label) ->
        (label, List.concat_map (of_case case) (comparisons results group)))
      cases
  in
  let all = List.concat_map snd lines in
  let point name label =
    List.assoc label lines
    |> List.find_map (fun (series, _, ({ times; _ } : Line.t)) ->
        let low, y, high = times in
        if series = name then Some { Plot.x = 0.; low; y; high } else None)
  in
  match all with
  | [] -> []
  | (_, _, { unit_; _ }) :: _ ->
      let base =
        match distinct (List.map (fun (_, base, _) -> base) all) with
        | [ base ] -> base
        | _ -> "the baseline"
      and what = if unit_ = "bytes" then "memory" else "time" in
      let plot =
        Plot.by_category ~level:1.
          ~y:(Printf.sprintf "%s, %s = 1" what base)
          ~categories:(List.map fst lines)
          (distinct (List.map (fun (series, _, _) -> series) all)
          |> List.map (fun name -> (name, point name)))
      in
      [ { file; plot } ]
