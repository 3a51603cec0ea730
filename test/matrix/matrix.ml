open Concord

module type Host = Host.S

type peer =
  | Present of (module Host) list
  | Absent of { names : string list; reason : string }

let not_installed names = Absent { names; reason = "not installed" }

(* --- The other domain ----------------------------------------------------------- *)

(* Many cells use the same domain, because ending a domain that had threads takes 50 ms. *)
let with_other_domain f =
  let jobs = Mailbox.create () in
  let rec work () =
    match Mailbox.take jobs with
    | exception Mailbox.Closed -> ()
    | job, ended ->
        (try job () with e -> Table.failed e);
        Promise.fill ended ();
        work ()
  in
  let start job =
    let ended = Promise.create () in
    Mailbox.add jobs (job, ended);
    ended
  in
  let domain = Domain.spawn work in
  f start;
  Mailbox.close jobs;
  Domain.join domain

(* --- Rows ------------------------------------------------------------------------ *)

let structures =
  let nowhere (_ : unit -> unit) = Promise.of_value () in
  List.map
    (fun (cell : Pair.cell) -> cell.structure)
    (Pair.cells Our_hosts.fifo Our_hosts.fifo nowhere ~calling:`B)

let pair a b = Printf.sprintf "%-18s <- %-18s" a b

let row a b start ~calling =
  let (module A : Host) = a and (module B : Host) = b in
  Table.{ pair = pair A.name B.name; cells = Pair.cells a b start ~calling }

let skipped_row a b reason =
  let cell structure =
    Pair.{ structure; skipped = Some reason; run = ignore }
  in
  Table.{ pair = pair a b; cells = List.map cell structures }

let each_pair ~on_other_domain ~here print =
  let rows a =
    let (module A : Host) = a in
    match A.main_domain_only with
    | Some reason -> print (skipped_row A.name "each" reason)
    | None ->
        with_other_domain @@ fun start ->
        List.iter (fun b -> print (row a b start ~calling:`B)) here
  in
  List.iter rows on_other_domain

let skip_absent peers print =
  let skip reason name =
    print (skipped_row name "each" reason);
    print (skipped_row "each" name reason)
  in
  List.iter
    (function
      | Present _ -> ()
      | Absent { names; reason } -> List.iter (skip reason) names)
    peers

(* --- Programs ---------------------------------------------------------------------- *)

let choice =
  let drawn seed = Table.Drawn { seed; of_each_row = 3 } in
  match Sys.argv with
  | [| _; "all" |] -> Table.All
  | [| _; seed |] when Option.is_some (int_of_string_opt seed) ->
      drawn (int_of_string seed)
  | _ ->
      let module Race = Concord_test_support.Race in
      if Race.long then Table.All else drawn Race.seed

let present peers =
  List.concat_map (function Present hosts -> hosts | Absent _ -> []) peers

let hosts_and peers = Our_hosts.all @ present peers

let styles_with hosts print =
  each_pair ~on_other_domain:Our_hosts.styles ~here:hosts print;
  each_pair ~on_other_domain:hosts ~here:Our_hosts.styles print

let run ~peers ~title =
  let hosts = hosts_and peers in
  Table.print ~title ~structures choice (fun print ->
      each_pair ~on_other_domain:hosts ~here:hosts print;
      skip_absent peers print)

let run_without_eio ~peers ~title =
  let hosts = hosts_and peers in
  Table.print ~title ~structures choice (fun print ->
      each_pair ~on_other_domain:hosts ~here:hosts print;
      styles_with Our_hosts.with_eio print;
      skip_absent peers print)

let run_styles ~peers ~title =
  let styles = Our_hosts.styles in
  Table.print ~title ~structures choice (fun print ->
      each_pair ~on_other_domain:styles ~here:styles print;
      styles_with (hosts_and peers) print;
      skip_absent peers print)

let run_with ~peers b ~title =
  let (module B : Host) = b in
  let with_it print a =
    let (module A : Host) = a in
    match A.main_domain_only with
    | Some reason ->
        print (skipped_row A.name B.name reason);
        print (skipped_row B.name A.name reason)
    | None ->
        with_other_domain @@ fun start ->
        print (row a b start ~calling:`B);
        print (row b a start ~calling:`A)
  in
  Table.print ~title ~structures choice (fun print ->
      List.iter (with_it print) (hosts_and peers @ Our_hosts.styles);
      print (skipped_row B.name B.name "it has one loop in a process");
      skip_absent peers print)
