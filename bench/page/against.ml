open Results
open Cells

type subject = {
  what : string;
  group : string;
  case : string;
  ours : string;
  peer : string;
  beside_peer : string;  (** Said of the ratio. *)
  go : bool;
  in_readme : bool;
}

let subject ?(ours = "concord@fifo") ?(peer = "eio@eio") ?(beside_peer = "")
    ?(go = true) ?(in_readme = false) group case what =
  { what; group; case; ours; peer; beside_peer; go; in_readme }

let on_eio = "concord@eio"

let one_domain =
  [
    subject "mvar" "serial-beside"
      "a message between two tasks of `Concord_fifo`";
    subject "mvar" "serial-beside" "a message between two Eio fibers"
      ~ours:on_eio ~in_readme:true;
    subject "structures" "stream100-serial-beside"
      "a stream of capacity 100, Eio fibers" ~ours:on_eio ~in_readme:true;
    subject "structures" "channel-serial-beside" "a rendezvous, `Concord_fifo`";
    subject "event" "select4-serial-beside"
      "a choice among four, `Concord_fifo`";
    subject "structures" "mutex-free-beside"
      "a mutex, locked and unlocked, free" ~in_readme:true;
    subject "lazy" "forced-beside" "a lazy value, forced before";
    subject "suspend" "fork-join-beside"
      "a task forked and joined, `Concord_fifo`";
  ]

(* Eio's loop sleeps between two messages. *)
let woken = "(Eio: mostly the waking of its thread)"

let two_domains =
  let parallel = subject ~beside_peer:woken in
  [
    parallel "mvar" "parallel" "a message between two domains, `Concord_fifo`"
      ~in_readme:true;
    parallel "mvar" "parallel" "a message between two domains, Eio fibers"
      ~ours:on_eio;
    parallel "mvar" "parallel" "a message between two domains, no scheduler"
      ~ours:"concord@domain";
    subject "structures" "stream100-parallel"
      "a stream of capacity 100 between two domains, `Concord_fifo`"
      ~in_readme:true;
    parallel "structures" "channel-parallel"
      "a rendezvous between two domains, `Concord_fifo`";
    subject "structures" "mutex-work-parallel"
      "a mutex that two domains want, work included, `Concord_fifo`";
    subject "lwt" "eio-to-lwt" "a message from Eio to Lwt, two domains"
      ~ours:"concord@eio-lwt" ~peer:"naive@eio-lwt" ~go:false
      ~beside_peer:"than a hand-made inbox";
    subject "web" "throughput-100"
      "HTTP requests answered by one domain, `Concord_aio`; 100 connections"
      ~ours:"concord@aio" ~peer:"eio@http"
      ~beside_peer:"(Eio's has no time limits)";
  ]

let subject_line results s =
  let find = find results s.group s.case in
  let line ours =
    let peer = find s.peer in
    let of_eio = String.starts_with ~prefix:"eio@" s.peer in
    [
      s.what;
      with_unit ours;
      (if of_eio then or_empty with_unit peer else "");
      (if s.go then or_empty with_unit (find "go@go") else "");
      or_empty
        (fun base -> String.trim (better ours ~base ^ " " ^ s.beside_peer))
        peer;
    ]
  in
  Option.map line (find s.ours)

let version results library =
  List.concat_map (fun row -> row.versions) results.rows
  |> List.assoc_opt library
  |> or_empty (fun version -> " " ^ version)

let table results subjects =
  Summary.table
    ~head:
      [
        "";
        "Concord";
        "Eio" ^ version results "Eio";
        "Go" ^ version results "Go";
        "against Eio, in the same run";
      ]
    (List.filter_map (subject_line results) subjects)

let conditions results =
  Printf.sprintf "`%s`, %s, %s.\n" results.command results.machine results.date

let readme results =
  table results (List.filter (fun s -> s.in_readme) (one_domain @ two_domains))
  ^ "\n" ^ conditions results

let one_domain results = table results one_domain
let two_domains results = table results two_domains
