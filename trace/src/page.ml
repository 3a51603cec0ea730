open Timeline
open Json

type row = {
  kind : [ `Domain of int | `Lane of int ];
  name : string;
  fold : int;
}

(* The rows of the page. For each process, its domains come first, then its tasks. *)
let rows t names =
  let several = List.length t.processes > 1 in
  let prefix pid =
    if several then
      Printf.sprintf "%s (%d): "
        (Option.value (List.assoc_opt pid names) ~default:"a program")
        pid
    else ""
  in
  List.concat_map
    (fun pid ->
      let domain domain =
        let name = Printf.sprintf "%sdomain %d" (prefix pid) domain in
        (pid, { kind = `Domain domain; name; fold = -1 })
      and lane { row; name; fold } =
        (pid, { kind = `Lane row; name = prefix pid ^ name; fold })
      in
      List.map domain (domains t pid) @ List.map lane (lanes t pid))
    t.processes

(* Each text is written once, and then only its number, because most texts are repeated often. *)
let texts () =
  let numbers = Hashtbl.create 100 and all = ref [] in
  let text text =
    match Hashtbl.find_opt numbers text with
    | Some n -> Int n
    | None ->
        let n = Hashtbl.length numbers in
        Hashtbl.replace numbers text n;
        all := String text :: !all;
        Int n
  in
  (text, fun () -> List (List.rev !all))

let data t names ~lost =
  let rows = rows t names and text, texts = texts () in
  let numbers = Hashtbl.create 100 in
  List.iteri
    (fun i (pid, { kind; _ }) -> Hashtbl.replace numbers (pid, kind) i)
    rows;
  let row key = Int (Hashtbl.find numbers key) in
  let of_task (actor : actor) = row (actor.pid, `Lane (Timeline.row t actor)) in
  let of_domain pid domain = row (pid, `Domain domain) in
  let of_waker (actor : actor) =
    if is_known actor.task then of_task actor
    else of_domain actor.pid actor.domain
  in
  let time ns = Microseconds (ns - t.begun_ns) in
  let is_domain { kind; _ } =
    match kind with `Domain _ -> true | `Lane _ -> false
  in
  let wakes = List.filter (fun w -> Option.is_some w.wake) t.waits in
  let number_of_wake = Hashtbl.create 100 in
  List.iteri
    (fun i w -> Hashtbl.replace number_of_wake (w.of_.pid, w.number) i)
    wakes;
  let wait w =
    List
      [
        of_task w.of_;
        time w.begun_ns;
        time w.ended_ns;
        text w.operation;
        text w.at;
        text (outcome_text w);
        text (match w.wake with Some { by; _ } -> label by.task | None -> "");
        text w.structure;
        text (label w.of_.task);
        Int (Bool.to_int w.is_sure);
        Int
          (Option.value
             (Hashtbl.find_opt number_of_wake (w.of_.pid, w.number))
             ~default:(-1));
        Int w.stands_for;
      ]
  and run (r : run) =
    let times = [ time r.from_ns; time r.until_ns ] in
    [
      List
        ((of_domain r.by_.pid r.by_.domain :: times)
        @ [ text (label r.by_.task) ]);
      List
        ((of_task r.by_ :: times)
        @ [
            text
              (Printf.sprintf "%s, on domain %d" (label r.by_.task) r.by_.domain);
          ]);
    ]
  and wake w =
    let arrow { by; wake_ns; handed_over } =
      List
        [
          of_waker by;
          time wake_ns;
          of_task w.of_;
          time (Int.max wake_ns w.ended_ns);
          Int (Bool.to_int handed_over);
        ]
    in
    Option.map arrow w.wake
  and on_domain told ({ pid; domain; from_ns; until_ns }, what) =
    List [ of_domain pid domain; time from_ns; time until_ns; told what ]
  and mark (actor, ns, marked) =
    List [ of_waker actor; time ns; text marked ]
  in
  let zone { from_ns; until_ns; left_out } =
    List [ time from_ns; time until_ns; Int left_out ]
  and pause pause = text (Profile.name_of_pause pause)
  and bytes bytes = Int bytes in
  let fields =
    [
      ("rows", List (List.map (fun (_, { name; _ }) -> String name) rows));
      ( "kinds",
        List
          (List.map (fun (_, r) -> Int (Bool.to_int (not (is_domain r)))) rows)
      );
      ("foldOf", List (List.map (fun (_, { fold; _ }) -> Int fold) rows));
      ( "folds",
        List (List.map (fun title -> String title) (Array.to_list t.folds)) );
      ("from", time t.from_ns);
      ("end", time t.finished_ns);
      ("lost", Int lost);
      ("waits", List (List.map wait t.waits));
      ("runs", List (List.concat_map run t.runs));
      ("wakes", List (List.filter_map wake wakes));
      ("pauses", List (List.map (on_domain pause) t.pauses));
      ("losses", List (List.map (on_domain bytes) t.losses));
      ("marks", List (List.map mark t.marks));
      ("zones", List (List.map zone t.zones));
    ]
  in
  Object (fields @ [ ("texts", texts ()) ])

let escaped text =
  let buffer = Buffer.create (String.length text) in
  String.iter
    (function
      | '<' -> Buffer.add_string buffer "&lt;"
      | '&' -> Buffer.add_string buffer "&amp;"
      | c -> Buffer.add_char buffer c)
    text;
  Buffer.contents buffer

(* --- The tables of waiting times, pauses and marks ------------------------------ *)

let most_sites = 50

let table buffer caption heads rows =
  if not (List.is_empty rows) then begin
    let cells tag cells =
      Buffer.add_string buffer "<tr>";
      List.iter
        (fun cell -> Printf.bprintf buffer "<%s>%s</%s>" tag (escaped cell) tag)
        cells;
      Buffer.add_string buffer "</tr>\n"
    in
    Printf.bprintf buffer "<table>\n<caption>%s</caption>\n" caption;
    cells "th" heads;
    List.iter (cells "td") rows;
    Buffer.add_string buffer "</table>\n"
  end

let seconds ns = Printf.sprintf "%.3f s" (float_of_int ns *. 1e-9)
let milliseconds ns = Printf.sprintf "%.3f ms" (float_of_int ns *. 1e-6)

let add_profile buffer profile =
  let wait (row : Profile.row) =
    [
      seconds row.total_ns;
      string_of_int row.count;
      milliseconds (row.total_ns / Int.max 1 row.count);
      milliseconds row.longest_ns;
      row.operation;
      row.structure;
      row.at;
    ]
  and pause (row : Profile.pauses) =
    [
      seconds row.sum_ns;
      string_of_int row.times;
      milliseconds (row.sum_ns / Int.max 1 row.times);
      milliseconds row.most_ns;
      Profile.name_of_pause row.pause;
    ]
  and mark (text, times) = [ string_of_int times; text ]
  and first all = List.filteri (fun i _ -> i < most_sites) all in
  let times = [ "total"; "count"; "mean"; "longest" ] in
  table buffer "Waits that ended, by operation and line"
    (times @ [ "operation"; "structure"; "line" ])
    (List.map wait (first (Profile.waits profile)));
  table buffer "Pauses of the collector, of all domains" (times @ [ "for" ])
    (List.map pause (Profile.pauses profile));
  table buffer "Marks" [ "count"; "text" ]
    (List.map mark (first (Profile.marks profile)))

let write channel ~title ~names ~lost ~profile t =
  let buffer = Buffer.create 65_536 in
  Buffer.add_string buffer "<!doctype html>\n<html lang=\"en\">\n<head>\n";
  Buffer.add_string buffer "<meta charset=\"utf-8\">\n";
  Buffer.add_string buffer
    "<meta name=\"viewport\" content=\"width=device-width\">\n";
  Buffer.add_string buffer "<link rel=\"icon\" href=\"data:,\">\n";
  Printf.bprintf buffer "<title>%s: timeline</title>\n<style>\n%s</style>\n"
    (escaped title) Page_parts.style;
  Printf.bprintf buffer "</head>\n<body>\n<h1>%s</h1>\n%s" (escaped title)
    Page_parts.body;
  add_profile buffer profile;
  Buffer.add_string buffer "<script type=\"application/json\" id=\"data\">";
  Json.add buffer (data t names ~lost);
  Printf.bprintf buffer "</script>\n<script>\n%s</script>\n</body>\n</html>\n"
    Page_parts.script;
  Buffer.output_buffer channel buffer
