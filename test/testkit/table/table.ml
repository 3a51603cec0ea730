(* Prints the page of which the name is given, with the table in it made anew, of what the
   suite finds. Exits with code 1 if a host breaks a clause. *)

open Concord_testkit
open Host
open Concord_test_own

module Eio_host = Concord_test_eio.Eio_host.Make (struct
  let linked = true
end)

module Pool = Concord_test_domainslib.Pool_host.Make (struct
  let num_domains = 1
end)

(* Each with its name on the page. *)
let hosts : (string * (module HOST)) list =
  let open Concord_test_lwt.Lwt_hosts in
  [
    ("Fibers of Eio, with [concord-eio]", (module Eio_host));
    ("Tasks of a Domainslib pool", (module Pool));
    ("Tasks of [Lwt_direct]", (module Lwt_direct));
    ("[Concord_lwt.direct] in [Concord_lwt.run]", (module Promises));
    ("{!Concord_fifo}", Own.fifo);
    ("{!Concord_fifo}, lazy", Own.lazy_fifo);
    ("System threads", Own.threads);
    ("Domains", Own.domains);
  ]

let styles =
  let named (module Style : HOST) =
    let name =
      match String.split_on_char ' ' Style.name with
      | [ _; name ] -> String.capitalize_ascii name
      | _ -> Style.name
    in
    ( Printf.sprintf "{{!Concord_styles.%s}%s}, a style" name name,
      (module Style : HOST) )
  in
  List.map named Own.styles

let broken = ref false

let row (name, host) =
  let report = Host.check ~seconds:20. host in
  if not (Report.passed report) then begin
    broken := true;
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
  Printf.sprintf "| %s | %s | %s |\n" name
    (if can.composes then "kept" else "broken")
    (List.filter snd abilities |> List.map fst |> String.concat ", ")

let table () =
  "{t\n| Host | Contract | Can |\n|------|----------|-----|\n"
  ^ String.concat "" (List.map row (hosts @ styles))
  ^ "}\n"

(* The lines of the page around those of its table. *)
let rec split before = function
  | "{t" :: lines -> (List.rev before, after lines)
  | line :: lines -> split (line :: before) lines
  | [] -> failwith "the page has no table"

and after = function
  | "}" :: lines -> lines
  | _ :: lines -> after lines
  | [] -> failwith "the table has no end"

let () =
  let page = In_channel.with_open_bin Sys.argv.(1) In_channel.input_all in
  let before, after = split [] (String.split_on_char '\n' page) in
  let table = table () in
  List.iter print_endline before;
  print_string table;
  print_string (String.concat "\n" after);
  if !broken then exit 1
