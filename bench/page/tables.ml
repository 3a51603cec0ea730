open Results

(* --- Rows side by side, a line for each case, with the baseline first --- *)

type line = { label : string; group : string; case : string; suffix : string }

let line ?(suffix = "") group case label = { label; group; case; suffix }
let same ?suffix group case = line ?suffix group case case

let beside ~corner ~columns lines results =
  let row line name =
    find results ~group:line.group ~case:line.case (name ^ line.suffix)
  in
  let cells line =
    let others base =
      List.map
        (fun (_, name) -> Option.bind (row line name) (Line.of_row ~base))
        (List.tl columns)
    in
    row line (snd (List.hd columns))
    |> Option.map (fun base -> (line.label, Line.of_baseline base, others base))
  in
  Line.beside ~corner ~columns:(List.map fst columns)
    (List.filter_map cells lines)

let hosts =
  [
    ("Eio", "eio@eio");
    ("Concord in Eio", "concord@eio");
    ("`Concord_fifo`", "concord@fifo");
    ("Go", "go@go");
  ]

let hosts_rows =
  [
    line "mvar" "serial-beside" "a message, one domain";
    line "structures" "stream100-serial-beside"
      "a stream of capacity 100, one domain";
    line "structures" "mutex-free-beside" "a free mutex, locked and unlocked";
    line "mvar" "parallel" "a message between two domains";
    line "structures" "stream100-parallel"
      "a stream of capacity 100 between two domains";
    line "structures" "channel-serial-beside" "a rendezvous, one domain";
    line "structures" "promise-serial-beside"
      "a round trip by fresh promises, one domain";
    line "structures" "semaphore-free-beside" "a free semaphore";
    line "suspend" "fork-join-beside" "a task forked and joined";
    line "structures" "channel-parallel" "a rendezvous between two domains";
    line "structures" "promise-parallel"
      "a round trip by fresh promises between two domains";
    line "structures" "mutex-work-parallel" "a mutex that two domains want";
  ]

let table_1 =
  beside ~corner:"Table 1"
    ~columns:
      [
        ("Eio.Stream", "eio@eio");
        ("with `concord-eio`", "concord@eio");
        ("without", "concord@eio-unlinked");
        ("`Concord_fifo`", "concord@fifo");
      ]
    [
      line "mvar" "table1-serial" "one domain";
      line "mvar" "table1-parallel" "two domains";
    ]

(* Threads are compared with Stdlib's own structures. *)
let threads =
  let at impl = impl ^ "@thread" in
  beside ~corner:"four threads"
    ~columns:
      [
        ("Stdlib", at "stdlib");
        ("Mutex", at "concord");
        ("Semaphore", at "concord-semaphore");
        ("Rwlock.write", at "concord-rwlock");
        ("Mvar.modify", at "concord-mvar");
        ("Stream", at "stream");
      ]
    [
      line "threads" "threads-write" "a lock, held for a write of 16 bytes";
      line "threads" "threads-yield" "a lock, held for a yield";
      line "threads" "threads-2-domains"
        "a lock, held for 1 us, 2 domains of 2 threads";
      line "threads" "threads-8-domains" "a lock, 8 domains";
      line "threads" "threads-write-worst" "the longest wait, a write";
      line "threads" "threads-yield-worst" "the longest wait, a yield";
      line "threads" "threads-sleep-worst" "the longest wait, each sleeps 50 us";
      line "threads" "threads-write-share" "the share of the busiest, a write";
      line "threads" "threads-yield-share" "the share of the busiest, a yield";
      line "threads" "threads-queue" "a queue of 100";
      line "threads" "threads-queue-2-domains" "the same on 2 domains";
    ]

let effect_ =
  beside ~corner:"step"
    ~columns:
      [
        ("bare", "stdlib@stdlib");
        ("`Concord_fifo`", "concord@fifo");
        ("Eio", "concord@eio");
        ("Domainslib", "concord@domainslib");
      ]
    [
      line "effect" "a-b" "a to b: a stack is made";
      line "effect" "b-c" "b to c: performed";
      line "effect" "c-d" "c to d: continued";
      line "effect" "d-e" "d to e: returned";
      line "effect" "through-1" "b to d through 1 other handler";
      line "effect" "through-16" "through 16";
      line "effect" "through-64" "through 64";
    ]

let styles =
  let columns =
    List.map
      (fun style -> (style, "concord@" ^ style))
      [
        "trampoline";
        "continuation";
        "promise";
        "events";
        "delimited";
        "callcc";
        "fifo";
      ]
  and cases =
    [
      "kpn";
      "sieve-100";
      "sorter-300";
      "sorter-setup";
      "yield-100";
      "spawn";
      "kpn-bytes";
      "sieve-bytes";
      "sorter-bytes";
      "sorter-setup-bytes";
    ]
  in
  let in_bytecode case =
    line ~suffix:"-bytecode" "styles" case (case ^ ", bytecode")
  in
  beside ~corner:"program" ~columns
    (List.map (same "styles") cases @ List.map in_bytecode cases)

let cancelling =
  let lines =
    List.concat_map
      (fun host ->
        List.map
          (fun pattern ->
            line ~suffix:("@" ^ host) "cancel-cost"
              (pattern ^ "-" ^ host)
              (String.uppercase_ascii pattern ^ ", " ^ host))
          [ "spmc"; "mpsc"; "mpmc" ])
      [ "fifo"; "eio" ]
  in
  beside ~corner:"tasks" lines
    ~columns:
      (("none cancelled", "0%")
      :: List.map (fun p -> (p, p)) [ "10%"; "20%"; "30%"; "30%-absent" ])

let caqti =
  beside ~corner:"a query"
    ~columns:
      [
        ("by hand", "by-hand@eio-caqti");
        ("Concord", "concord@eio-caqti");
        ("plain Lwt", "lwt@caqti");
      ]
    [ line "caqti" "query-4" "4 clients"; line "caqti" "query-16" "16 clients" ]

let servers =
  [
    ("Concord, `Concord_aio`", "concord@aio");
    ("Concord in Eio", "concord@eio");
    ("Eio", "eio@http");
    ("Lwt", "lwt@http");
    ("Go", "go@go");
  ]

let numbered results group prefix =
  List.filter_map
    (fun (row : row) ->
      if row.group = group && String.starts_with ~prefix row.case then
        Some row.case
      else None)
    (rows results)
  |> Chart.distinct

let web results =
  beside ~corner:"" ~columns:servers
    (List.map (same "web")
       (List.concat_map (numbered results "web")
          [ "throughput-"; "answered-"; "p50-"; "p90-"; "p99-"; "p99.9-" ]))
    results

let fib results =
  beside ~corner:""
    ~columns:
      (List.map
         (fun variant -> (variant, variant ^ "@eio"))
         [
           "composed";
           "unsplit";
           "long-lived";
           "domain-manager";
           "executor-pool";
           "eio-promise";
           "blocking";
           "as-printed";
           "mvar";
         ])
    (List.map (same "fib")
       (List.concat_map (numbered results "fib")
          [ "throughput-"; "p90-"; "small-p90-" ]))
    results

(* --- Rows below each other --- *)

(* A row of threads has no baseline if Stdlib has nothing for them. *)
let lines_of c =
  let line row =
    match base_of c row with
    | Some base -> Line.of_row ~base row
    | None -> Some (Line.of_baseline row)
  in
  List.filter_map line (c.baseline :: c.others)

let comparison group case results =
  List.assoc_opt group (groups results)
  |> Option.value ~default:[]
  |> List.filter (fun c -> c.baseline.case = case)
  |> List.concat_map lines_of |> Line.table

let offered row =
  if row.offered = [||] then ""
  else
    let first, median, third = Concord_bench.Statistics.quartiles row.offered in
    Printf.sprintf "; due per second: %s [%s %s]" (Line.figure median)
      (Line.figure first) (Line.figure third)

let growth group c =
  if group <> "scale" then ""
  else
    let point row =
      let _, median, _ = quartiles row in
      (Concord_bench.Growth.size row.case, median)
    in
    let growth =
      Concord_bench.Growth.of_sizes (List.map point (c.baseline :: c.others))
    in
    "\n" ^ Concord_bench.Growth.text growth ^ "\n"

let measured group c =
  Printf.sprintf "%s%s:\n\n%s%s" c.title (offered c.baseline)
    (Line.table (lines_of c))
    (growth group c)

let whole group results =
  match List.assoc_opt group (groups results) with
  | None -> "Not measured yet."
  | Some comparisons ->
      String.concat "\n" (List.map (measured group) comparisons)

let rows results =
  let of_group (group, comparisons) =
    Printf.sprintf "\n## %s\n\n" group
    ^ String.concat "\n" (List.map (measured group) comparisons)
  in
  String.concat "" (List.map of_group (groups results))

let ahead who results = Line.table (List.assoc who (Behind.lines results))

(* --- The runs and the verdicts --- *)

let groups_of rows =
  Chart.distinct (List.map (fun (row : row) -> row.group) rows)

(* The groups that the command of a run names, but whose figures are from another run, because
   this one was stopped before, or they were measured again. *)
let from_others results run =
  let own = groups_of run.rows and all = groups_of (Results.rows results) in
  String.split_on_char ' ' run.command
  |> List.filter (fun word -> List.mem word all && not (List.mem word own))
  |> List.map (fun group -> group ^ " has its figures from another run")

let runs results =
  let line run =
    let groups = groups_of run.rows in
    [
      String.concat ", " groups;
      run.machine;
      run.date;
      "`" ^ run.command ^ "`";
      String.concat "; " ((run.effort :: run.left_out) @ from_others results run);
    ]
  in
  Line.cells
    ~head:[ "groups"; "machine"; "begun"; "command"; "" ]
    (List.map line results)

let versions results =
  List.concat_map (fun run -> run.versions) results
  |> List.sort_uniq compare
  |> List.map (fun (name, version) -> name ^ " " ^ version)
  |> String.concat ", "

let verdicts results =
  let line (part : Paper.part) (claim : Claim.t) =
    let findings = claim.findings results in
    [
      part.title;
      claim.says;
      "**" ^ Claim.words (Claim.verdict findings) ^ "**";
      Claim.deciding findings;
    ]
  in
  let paper (paper : Paper.t) =
    let lines =
      List.concat_map
        (fun (part : Paper.part) -> List.map (line part) part.claims)
        paper.parts
    in
    Printf.sprintf "\n%s:\n\n%s" paper.name
      (Line.cells ~head:[ "part"; "claim"; "verdict"; "by" ] lines)
  in
  String.concat "" (List.map paper Papers.all)

let all =
  [
    ("hosts", beside ~corner:"" ~columns:hosts hosts_rows);
    ("table-1", table_1);
    ("threads", threads);
    ("effect", effect_);
    ("styles", styles);
    ("cancelling", cancelling);
    ("web", web);
    ("fib", fib);
    ("caqti", caqti);
    ("generators", comparison "generator" "tree");
    ("pipeline", comparison "pipeline" "pipeline-work");
    ("workers", whole "workers");
    ("blocking", whole "blocking");
    ("local", whole "local");
    ("ahead-own", ahead Behind.Own);
    ("ahead-libraries", ahead Behind.Library);
    ("ahead-languages", ahead Behind.Language);
    ("runs", runs);
    ("versions", versions);
    ("verdicts", verdicts);
    ("rows", rows);
  ]

let charts results =
  List.concat_map
    (fun (paper : Paper.t) ->
      List.concat_map
        (fun (part : Paper.part) -> part.charts results)
        paper.parts)
    Papers.all
