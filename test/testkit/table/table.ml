(* Prints the page whose name is given, with a new table of the suite's results. If the library
   of a host isn't installed, its old row is kept. Exits with code 1 if a host breaks a clause. *)

open Concord_testkit
open Host
open Concord_test_own

module Eio_host = Concord_test_eio.Eio_host.Make (struct
  let linked = true
end)

module Pool = Concord_test_domainslib.Pool_host.Make (struct
  let num_domains = 1
end)

(* Each host with its name on the page, or [None] if its library isn't installed. *)
let hosts : (string * (module HOST) option) list =
  let open Concord_test_lwt.Lwt_hosts in
  [
    ("Fibers of Eio, with [concord-eio]", Some (module Eio_host));
    ("Tasks of a Domainslib pool", Some (module Pool));
    ("Tasks of [Lwt_direct]", Some (module Lwt_direct));
    ("[Concord_lwt.direct] in [Concord_lwt.run]", Some (module Promises));
    ("[Concord_async.direct]", Async_peer.host);
    ("Fibers of Picos, fifo", Picos_peer.fifo);
    ("Fibers of Picos, multififo", Picos_peer.multififo);
    ("Tasks of Moonpool, [Fifo_pool]", Moonpool_peer.fifo_pool);
    ("Tasks of Moonpool, [Ws_pool]", Moonpool_peer.ws_pool);
    ("Tasks of Miou", Miou_peer.host);
    ("{!Concord_fifo}", Some Own.fifo);
    ("{!Concord_fifo}, lazy", Some Own.lazy_fifo);
    ("Jobs of {!Concord.Workers}", Some Own.workers);
    ("System threads", Some Own.threads);
    ("Domains", Some Own.domains);
  ]

(* For the modules named "styles, threads", "policies, Lifo" and so on. *)
let of_schedulers modul what hosts =
  let named (module H : HOST) =
    let name =
      match String.split_on_char ' ' H.name with
      | [ _; name ] -> String.capitalize_ascii name
      | _ -> H.name
    in
    ( Printf.sprintf "{{!%s.%s}%s}, a %s" modul name name what,
      Some (module H : HOST) )
  in
  List.map named hosts

let styles = of_schedulers "Concord_styles" "style" Own.styles
let policies = of_schedulers "Concord_policies" "policy" Own.policies
let is_broken = ref false

let rows =
  List.map
    (fun (name, host) -> (name, Option.map declare host))
    (hosts @ policies @ styles)

let made_anew name host =
  let report = check ~seconds:20. host in
  let is_broken_here = not (Report.passed report) in
  if is_broken_here then begin
    is_broken := true;
    prerr_string (Report.to_string report)
  end;
  let can = Host.abilities report in
  let abilities =
    [
      ("cancels", can.cancels);
      ("protects", can.protects);
      ("inside", can.inside);
      ("around", can.around);
      ("domains", can.domains);
    ]
  in
  Printf.sprintf "| %s | %s | %s |" name
    (if is_broken_here then "broken"
     else
       match Report.verdict report "fair" with
       | Not_offered _ -> "kept, but not fair"
       | Kept | Broken _ -> "kept")
    (List.filter snd abilities |> List.map fst |> String.concat ", ")

(* The new lines of the table, and the old ones for hosts that aren't installed. *)
let made_of table =
  let row = function
    | name, Some host -> [ made_anew name host ]
    | name, None ->
        List.filter (String.starts_with ~prefix:("| " ^ name ^ " |")) table
  in
  [ "{t"; "| Host | Contract | Can |"; "|------|----------|-----|" ]
  @ List.concat_map row rows @ [ "}" ]

(* The lines of the page before its table, in it, and after it. *)
let rec split before = function
  | "{t" :: lines -> within (List.rev before) [] lines
  | line :: lines -> split (line :: before) lines
  | [] -> failwith "the page has no table"

and within before table = function
  | "}" :: lines -> (before, List.rev table, lines)
  | line :: lines -> within before (line :: table) lines
  | [] -> failwith "the table has no end"

let () =
  let page = In_channel.with_open_bin Sys.argv.(1) In_channel.input_all in
  let before, table, after = split [] (String.split_on_char '\n' page) in
  print_string (String.concat "\n" (before @ made_of table @ after));
  if !is_broken then exit 1
