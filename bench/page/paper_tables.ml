(* Tables of one subject each. *)

open Results
open Cells

let matrix ~corner ~columns rows cell =
  let line (name, of_row) =
    let cells =
      List.map (fun (_, of_column) -> cell of_row of_column) columns
    in
    if List.for_all (String.equal "") cells then None else Some (name :: cells)
  in
  Summary.table
    ~head:(corner @ List.map fst columns)
    (List.filter_map line rows)

let same names = List.map (fun name -> (name, name)) names

let cancelling results =
  let hosts = [ "fifo"; "fifo-lazy"; "eio"; "eio-stream" ]
  and variants = [ "spmc"; "mpsc"; "mpmc" ] in
  let parts = [ "10%"; "20%"; "30%"; "30%-absent" ] in
  let line host variant =
    let row part =
      find results "cancel-cost" (variant ^ "-" ^ host) (part ^ "@" ^ host)
    in
    let base = row "0%" in
    let cell part =
      match (row part, base) with
      | Some row, Some base -> times row ~base
      | _ -> ""
    in
    Option.map
      (fun base ->
        host
        :: String.uppercase_ascii variant
        :: median base :: List.map cell parts)
      base
  in
  Summary.table
    ~head:[ "host"; ""; "ns"; "10 %"; "20 %"; "30 %"; "30 % absent" ]
    (List.concat_map (fun host -> List.filter_map (line host) variants) hosts)

let variants =
  [
    "composed";
    "as-printed";
    "mvar";
    "eio-promise";
    "executor-pool";
    "domain-manager";
    "blocking";
  ]

(* The first is in ms, the others as multiples of it. *)
let fib results columns =
  let at impl case = find results "fib" case (impl ^ "@eio") in
  let cell impl case =
    match (at impl case, at "composed" case) with
    | Some row, Some base ->
        if row.unit_ = "req/s" then median row
        else if impl = "composed" then Ratio.figure (Results.median row /. 1e3)
        else times row ~base
    | _ -> ""
  in
  matrix ~corner:[ "variant" ] ~columns (same variants) cell

let fib_loads results =
  fib results
    (List.map
       (fun percent ->
         (Printf.sprintf "%d %%" percent, Printf.sprintf "p90-load-%d" percent))
       [ 25; 50; 75; 100; 125 ])

let fib_domains results =
  fib results
    [
      ("1 domain", "p90-domains-1");
      ("as many as cores", "p90-domains-cores");
      ("twice as many", "p90-domains-2x-cores");
      ("answered at 125 %, per s", "throughput-load-125");
    ]

let effect_ results =
  let cases =
    [ "a-b"; "b-c"; "c-d"; "d-e" ]
    @ List.map (Printf.sprintf "through-%d") [ 1; 2; 4; 8; 16; 32; 64 ]
  in
  let at = find results "effect" in
  let cell case row =
    match (at case row, at case "stdlib@stdlib") with
    | Some row, Some base when row != base ->
        Printf.sprintf "%s (%.1fx)" (median row)
          (Results.median row /. Results.median base)
    | row, _ -> or_empty median row
  in
  matrix ~corner:[ "" ] (same cases) cell
    ~columns:
      [
        ("bare", "stdlib@stdlib");
        ("fifo", "concord@fifo");
        ("eio", "concord@eio");
        ("domainslib", "concord@domainslib");
      ]

let styles suffix results =
  let hosts =
    [
      "trampoline";
      "continuation";
      "promise";
      "events";
      "delimited";
      "callcc";
      "fifo";
      "eio";
      "threads";
    ]
  in
  let is_one row =
    row.group = "styles" && row.case <> "mvar"
    && not (Concord_bench.Case.is_beside row.case)
  in
  let cases =
    List.filter is_one results.rows
    |> List.map (fun row -> row.case)
    |> List.fold_left
         (fun seen case -> if List.mem case seen then seen else case :: seen)
         []
    |> List.rev
  in
  matrix ~corner:[ "case" ]
    ~columns:(List.map (fun host -> (host, host ^ suffix)) hosts)
    (same cases)
    (fun case host ->
      or_empty
        (fun row -> Ratio.figure (Results.median row))
        (find results "styles" case ("concord@" ^ host)))

(* Some rows of a case, and how many times as much as the first of them they take. *)
let beside_first results ~group ~case rows =
  let at = find results group case in
  let base = at (List.hd rows) in
  let line name =
    let row_of row =
      [ row.host; row.impl; median row ]
      @ match base with Some base -> [ times row ~base ] | None -> [ "" ]
    in
    Option.map row_of (at name)
  in
  List.filter_map line rows

let private_mvar results =
  let of_style style =
    beside_first results ~group:"styles" ~case:"mvar"
      (List.map
         (fun impl -> impl ^ "@" ^ style)
         [ "private"; "private-mvar"; "concord" ])
  in
  Summary.table
    ~head:[ "host"; "impl"; "ns"; "to private" ]
    (List.concat_map of_style [ "trampoline"; "delimited"; "callcc" ])

let generators results =
  Summary.table
    ~head:[ "host"; "impl"; "ns"; "to iterator" ]
    (beside_first results ~group:"generator" ~case:"tree"
       [
         "stdlib@iterator";
         "stdlib@hand-written";
         "stdlib@seq";
         "stdlib@seq-hand-written";
         "concord@effects";
         "concord@effects-ahead";
         "node@iterator";
         "node@generator";
       ])

let web results =
  let cases = [ "throughput-100"; "throughput-1000"; "p99-100"; "p99-1000" ] in
  let line server =
    let cells case =
      let at = find results "web" case in
      match (at server, at "concord@aio") with
      | Some row, Some base -> [ median row; times row ~base ]
      | _ -> [ ""; "" ]
    in
    server :: List.concat_map cells cases
  in
  Summary.table
    ~head:
      [ "server"; "req/s, 100"; ""; "1000"; ""; "p99 us, 100"; ""; "1000"; "" ]
    (List.map line
       [
         "concord@aio";
         "concord@eio";
         "eio@http";
         "lwt@http";
         "lwt@cohttp";
         "go@go";
       ])
