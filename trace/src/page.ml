open Timeline
open Json

let outcome = function
  | None -> "still waits"
  | Some Concord.Tools.Trace.Returned -> "returned"
  | Some Raised -> "raised"
  | Some Cancelled -> "cancelled"

(* Rows of the page: first the domains of each process, then its tasks. *)
let rows t names =
  let several = List.length t.processes > 1 in
  let named pid name =
    if several then
      Printf.sprintf "%s (%d): %s"
        (Option.value (List.assoc_opt pid names) ~default:"a program")
        pid name
    else name
  in
  List.concat_map
    (fun pid ->
      List.map
        (fun domain ->
          ((pid, `Domain domain), named pid (Printf.sprintf "domain %d" domain)))
        (domains t pid)
      @ List.map
          (fun (row, name) -> ((pid, `Task row), named pid name))
          (tasks t pid))
    t.processes

let data t names ~lost =
  let rows = rows t names in
  let numbers = Hashtbl.create 100 in
  List.iteri (fun i (key, _) -> Hashtbl.replace numbers key i) rows;
  let row key = Int (Hashtbl.find numbers key) in
  let of_task actor = row (actor.pid, `Task (Timeline.row t actor)) in
  let of_domain pid domain = row (pid, `Domain domain) in
  let of_waker actor =
    if is_known actor.task then of_task actor
    else of_domain actor.pid actor.domain
  in
  let time ns = Microseconds (ns - t.begun_ns) in
  let name (_, name) = String name in
  let kind ((_, kind), _) =
    Int (match kind with `Domain _ -> 0 | `Task _ -> 1)
  in
  let wait w =
    List
      [
        of_task w.of_;
        time w.begun_ns;
        time w.ended_ns;
        String w.operation;
        String w.at;
        String (outcome w.outcome);
        String
          (match w.wake with Some { by; _ } -> label by.task | None -> "");
      ]
  and run r =
    let times = [ time r.from_ns; time r.until_ns ] in
    [
      List
        ((of_domain r.by_.pid r.by_.domain :: times)
        @ [ String (label r.by_.task) ]);
      List
        ((of_task r.by_ :: times)
        @ [ String (Printf.sprintf "runs on domain %d" r.by_.domain) ]);
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
  in
  Object
    [
      ("rows", List (List.map name rows));
      ("kinds", List (List.map kind rows));
      ("end", time t.finished_ns);
      ("lost", Int lost);
      ("waits", List (List.map wait t.waits));
      ("runs", List (List.concat_map run t.runs));
      ("wakes", List (List.filter_map wake t.waits));
    ]

let escaped text =
  let buffer = Buffer.create (String.length text) in
  String.iter
    (function
      | '<' -> Buffer.add_string buffer "&lt;"
      | '&' -> Buffer.add_string buffer "&amp;"
      | c -> Buffer.add_char buffer c)
    text;
  Buffer.contents buffer

let write channel ~title ~names ~lost t =
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
  Buffer.add_string buffer "<script type=\"application/json\" id=\"data\">";
  Json.add buffer (data t names ~lost);
  Printf.bprintf buffer "</script>\n<script>\n%s</script>\n</body>\n</html>\n"
    Page_parts.script;
  Buffer.output_buffer channel buffer
