(* The figures that pages repeat from bench/RESULTS.md. If a measurement is repeated, a page must
   follow. *)

let read file = In_channel.with_open_bin file In_channel.input_all
let results = lazy (String.split_on_char '\n' (read "../../bench/RESULTS.md"))
let cells line = List.map String.trim (String.split_on_char '|' line)

(* The cell of the row that begins with [row], in the table after [marker]. *)
let cell table row column =
  let marker = Printf.sprintf "<!-- measured: %s -->" table in
  let rec after = function
    | [] -> Alcotest.failf "RESULTS.md has no line %s" marker
    | line :: rest -> if line = marker then rest else after rest
  in
  let rec find = function
    | [] | "<!-- end -->" :: _ ->
        Alcotest.failf "the table %S has no row %S" table row
    | line :: rest -> (
        match cells line with
        | _ :: first :: _ as all when first = row -> List.nth all column
        | _ -> find rest)
  in
  find (after (Lazy.force results))

let matched regexp text =
  match Str.search_forward (Str.regexp regexp) text 0 with
  | _ -> Str.matched_group 1 text
  | exception Not_found -> Alcotest.failf "no figure in %S" text

let number = matched "\\([0-9.,]+\\)"

let quartiles text =
  Str.global_replace (Str.regexp " ") " to " (matched "\\[\\(.*\\)\\]" text)

let repeats page table row column figure write () =
  let expected = write (figure (cell table row column)) in
  let text = Str.global_replace (Str.regexp "[ \n]+") " " (read page) in
  match Str.search_forward (Str.regexp_string expected) text 0 with
  | _ -> ()
  | exception Not_found ->
      Alcotest.failf
        "%s doesn't have %S, which follows from the row %S of RESULTS.md"
        (Filename.basename page) expected row

let case name check = Alcotest.test_case name `Quick check
let performance = "../../doc/performance.mld"

let pipeline =
  List.map
    (fun row ->
      let row = "pipeline-work " ^ row in
      case row
        (repeats performance "pipeline" row 5 number (Printf.sprintf "{td %s}")))
    [
      "eio@eio"; "eio@eio+eio"; "eio@eio+pool"; "concord@eio"; "concord@eio+eio";
      "concord@fifo"; "concord@fifo+fifo"; "concord@fifo+pool"; "concord@pool";
      "domainslib@pool"; "stdlib@thread"; "concord@thread"; "go@go";
    ] [@@ocamlformat "disable"]

let queue =
  case "the queue of threads"
    (repeats performance "pipeline" "pipeline-work concord@thread" 3 number
       (Printf.sprintf "or %s if the items need work"))

let threads =
  List.map
    (fun row ->
      case row
        (repeats "../../doc/threads.mld" "threads" row 3 quartiles
           (Printf.sprintf "| %s |")))
    [
      "a lock, held for a write of 16 bytes";
      "a lock, held for a yield";
      "a lock, held for 1 us, 2 domains of 2 threads";
      "the longest wait, each sleeps 50 us";
      "the longest wait, a yield";
    ]

(* README has "a fiftieth of the time, or less". *)
let fiftieth =
  case "a message between domains" (fun () ->
      let ratio = float_of_string (number (cell "table-1" "two domains" 3)) in
      Alcotest.(check bool) "at most a fiftieth" true (ratio <= 0.02))

let () =
  Alcotest.run "Figures of RESULTS.md on pages"
    [
      ("performance", queue :: pipeline);
      ("threads", threads);
      ("README", [ fiftieth ]);
    ]
