open Timeline
open Json

type track = { group : int; row : int }

(* In this format a group of tracks is a process. Each process has two groups here, so groups
   have numbers of their own. *)
let index t pid =
  let rec from i = function
    | [] -> i
    | first :: _ when first = pid -> i
    | _ :: rest -> from (i + 1) rest
  in
  from 0 t.processes

let of_domain t pid domain = { group = (2 * index t pid) + 1; row = domain + 1 }

(* The track for the pauses of the collector and for lost events. *)
let of_collector t pid domain =
  { group = (2 * index t pid) + 1; row = 100_000 + domain }

(* The track for the times of which only some waits are left. *)
let of_zones t pid = { group = (2 * index t pid) + 1; row = 200_000 }

let of_task t (actor : actor) =
  { group = (2 * index t actor.pid) + 2; row = Timeline.row t actor }

(* The track of the task that woke another one, or of its domain if the task isn't known. *)
let of_waker t (actor : actor) =
  if is_known actor.task then of_task t actor
  else of_domain t actor.pid actor.domain

let event t ph { group; row } ~ns name fields =
  Object
    ([
       ("ph", String ph);
       ("pid", Int group);
       ("tid", Int row);
       ("ts", Microseconds (ns - t.begun_ns));
       ("name", String name);
     ]
    @ fields)

let slice t track ~from_ns ~until_ns name args =
  event t "X" track ~ns:from_ns name
    [
      ("dur", Microseconds (Int.max 0 (until_ns - from_ns)));
      ("cat", String "concord");
      ("args", Object args);
    ]

let metadata { group; row } kind name =
  Object
    [
      ("ph", String "M");
      ("pid", Int group);
      ("tid", Int row);
      ("name", String kind);
      ("args", Object [ ("name", String name) ]);
    ]

let sort_index { group; row } =
  Object
    [
      ("ph", String "M");
      ("pid", Int group);
      ("tid", Int row);
      ("name", String "thread_sort_index");
      ("args", Object [ ("sort_index", Int row) ]);
    ]

let with_collector t pid =
  let domain ((span : span), _) =
    if span.pid = pid then Some span.domain else None
  in
  List.sort_uniq Int.compare
    (List.filter_map domain t.pauses @ List.filter_map domain t.losses)

let tracks t names pid =
  let name = Option.value (List.assoc_opt pid names) ~default:"a program" in
  let title kind = Printf.sprintf "%s (%d): %s" name pid kind in
  let group n = { group = (2 * index t pid) + n; row = 0 } in
  let track track name =
    [ metadata track "thread_name" name; sort_index track ]
  in
  [
    metadata (group 1) "process_name" (title "domains");
    metadata (group 2) "process_name" (title "tasks");
  ]
  @ List.concat_map
      (fun domain ->
        track (of_domain t pid domain) (Printf.sprintf "domain %d" domain))
      (domains t pid)
  @ List.concat_map
      (fun domain ->
        track
          (of_collector t pid domain)
          (Printf.sprintf "domain %d: collector" domain))
      (with_collector t pid)
  @ (if List.is_empty t.zones then [] else track (of_zones t pid) "sampled")
  @ List.concat_map
      (fun { row; name; _ } -> track { (group 2) with row } name)
      (lanes t pid)

let wait_slice t wait =
  let name =
    "waits" ^ if wait.operation = "" then "" else ": " ^ wait.operation
  in
  slice t (of_task t wait.of_) ~from_ns:wait.begun_ns ~until_ns:wait.ended_ns
    name
    ([
       ("task", String (label wait.of_.task));
       ("outcome", String (outcome_text wait));
       ("wait", Int wait.number);
     ]
    @ (if wait.stands_for = 1 then []
       else [ ("stands for", Int wait.stands_for) ])
    @ (if wait.structure = "" then []
       else [ ("structure", String wait.structure) ])
    @ (if wait.at = "" then [] else [ ("at", String wait.at) ])
    @
    match wait.wake with
    | None -> []
    | Some { by; _ } -> [ ("woken by", String (label by.task)) ])

(* Perfetto draws an arrow only between slices, so each end of an arrow needs a slice, if only
   the shortest possible one. *)
let shortest_ns = 1

let arrow t i wait =
  match wait.wake with
  | None -> []
  | Some { by; wake_ns; handed_over } ->
      let from = of_waker t by and to_ = of_task t wait.of_ in
      let ends ph track ~ns fields =
        event t ph track ~ns "wakes"
          ([ ("cat", String "wakes"); ("id", Int (i + 1)) ] @ fields)
      and there = Int.max wake_ns wait.ended_ns in
      [
        slice t from ~from_ns:wake_ns ~until_ns:(wake_ns + shortest_ns)
          ("wakes " ^ label wait.of_.task)
          [
            ("handed over", String (if handed_over then "yes" else "no"));
            ("wait", Int wait.number);
          ];
        ends "s" from ~ns:wake_ns [];
        slice t to_ ~from_ns:there ~until_ns:(there + shortest_ns)
          ("woken by " ^ label by.task)
          [];
        ends "f" to_ ~ns:there [ ("bp", String "e") ];
      ]

let run_slices t run =
  let { by_; from_ns; until_ns } = run in
  [
    slice t
      (of_domain t by_.pid by_.domain)
      ~from_ns ~until_ns (label by_.task) [];
    slice t (of_task t by_) ~from_ns ~until_ns
      (Printf.sprintf "runs on domain %d" by_.domain)
      [ ("task", String (label by_.task)) ];
  ]

let pause_slice t ({ pid; domain; from_ns; until_ns }, pause) =
  slice t
    (of_collector t pid domain)
    ~from_ns ~until_ns
    (Profile.name_of_pause pause)
    []

let loss_slice t ({ pid; domain; from_ns; until_ns }, bytes) =
  slice t
    (of_collector t pid domain)
    ~from_ns ~until_ns "events lost"
    [ ("bytes", Int bytes) ]

let zone_slice t pid { from_ns; until_ns; left_out } =
  slice t (of_zones t pid) ~from_ns ~until_ns "sampled"
    [ ("events left out", Int left_out) ]

let mark t (actor, ns, text) =
  event t "i" (of_waker t actor) ~ns text
    [ ("cat", String "mark"); ("s", String "t") ]

let counter t (pid, domain, name, ns, length) =
  event t "C" (of_domain t pid domain) ~ns
    (Printf.sprintf "%s, domain %d" name domain)
    [ ("args", Object [ ("length", Int length) ]) ]

let write channel ~names ~lost t =
  let buffer = Buffer.create 65_536 and first = ref true in
  let write_event event =
    if !first then first := false else Buffer.add_string buffer ",\n";
    Json.add buffer event;
    if Buffer.length buffer > 60_000 then begin
      Buffer.output_buffer channel buffer;
      Buffer.clear buffer
    end
  in
  Buffer.add_string buffer "{\"displayTimeUnit\":\"ns\",\"otherData\":";
  Json.add buffer (Object [ ("lost bytes", Int lost) ]);
  Buffer.add_string buffer ",\"traceEvents\":[\n";
  List.iter (fun pid -> List.iter write_event (tracks t names pid)) t.processes;
  List.iter (fun wait -> write_event (wait_slice t wait)) t.waits;
  List.iter (fun run -> List.iter write_event (run_slices t run)) t.runs;
  List.iteri (fun i wait -> List.iter write_event (arrow t i wait)) t.waits;
  List.iter (fun queue -> write_event (counter t queue)) t.queues;
  List.iter (fun pause -> write_event (pause_slice t pause)) t.pauses;
  List.iter (fun loss -> write_event (loss_slice t loss)) t.losses;
  List.iter
    (fun pid ->
      List.iter (fun zone -> write_event (zone_slice t pid zone)) t.zones)
    t.processes;
  List.iter (fun one -> write_event (mark t one)) t.marks;
  Buffer.add_string buffer "\n]}\n";
  Buffer.output_buffer channel buffer
