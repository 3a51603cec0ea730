(* What is left of a trace with too many events. *)

open Concord.Tools
open Concord_test_support
open Concord_trace

let second = Minute.second

(* Full length with --long. *)
let seconds = 60
let per_second = if Race.long then 7_000 else 700
let most = if Race.long then 150_000 else 15_000
let sampled ?(most = most) () = Minute.kept ~seconds ~per_second ~most
let minute = lazy (sampled ())
let number_of_items kept = List.length (Kept.items kept)

let within (t : Timeline.t) time =
  List.exists
    (fun (z : Timeline.zone) -> z.from_ns <= time && time < z.until_ns)
    t.zones

let bound () =
  let kept, _ = Lazy.force minute in
  let number = number_of_items kept in
  Check.yes (Printf.sprintf "%d items" number) (number <= most + 200);
  Check.yes "the room is used" (number > most / 2)

(* Each second has complete parts, and waits from between them. *)
let covered () =
  let kept, _ = Lazy.force minute in
  let t = Kept.timeline kept in
  let complete = Array.make seconds false
  and examples = Array.make seconds false in
  List.iter
    (fun (w : Timeline.wait) ->
      let i = w.begun_ns / second in
      if i < seconds then
        if within t w.begun_ns then examples.(i) <- true
        else complete.(i) <- true)
    t.waits;
  let count = Array.fold_left (fun n b -> if b then n + 1 else n) 0 in
  let { Kept.share; width_ns; complete_ns; number; _ } =
    Option.get (Kept.sampling kept)
  in
  Check.int "all were added"
    ((3 * Minute.waits ~seconds ~per_second) + 1)
    number;
  Check.yes "a part of each group"
    (count complete >= seconds * second / (share * width_ns));
  let sampled = seconds - (complete_ns / second) - 1 in
  Check.yes "examples in each second" (count examples >= sampled);
  Check.yes "the end is complete" (complete_ns > second);
  (* A wait that is alone in its time is complete. *)
  List.iter
    (fun (w : Timeline.wait) ->
      if w.begun_ns >= t.finished_ns - complete_ns then
        Check.int "it stands for itself" 1 w.stands_for)
    t.waits

let sums of_ =
  let table = Hashtbl.create 10 in
  let add key n longest =
    let count, before =
      Option.value (Hashtbl.find_opt table key) ~default:(0, 0)
    in
    Hashtbl.replace table key (count + n, Int.max before longest)
  in
  of_ add;
  List.sort compare (List.of_seq (Hashtbl.to_seq table))
  |> List.map (fun ((operation, structure, at), (n, longest)) ->
      Printf.sprintf "%s %s %s: %d, %d" operation structure at n longest)

(* Counts and the longest wait of each place are exact, in the table and in the drawing. *)
let exact () =
  let kept, profile = Lazy.force minute in
  let t = Kept.timeline kept in
  let in_drawing =
    sums (fun add ->
        List.iter
          (fun (w : Timeline.wait) ->
            add
              (w.operation, w.structure, w.at)
              w.stands_for (w.ended_ns - w.begun_ns))
          t.waits)
  and in_table =
    sums (fun add ->
        List.iter
          (fun (row : Profile.row) ->
            add (row.operation, row.structure, row.at) row.count row.longest_ns)
          (Profile.waits profile))
  in
  Check.int "places" 7 (List.length in_table);
  Check.strings "counts, and the longest" in_table in_drawing;
  let all =
    List.fold_left
      (fun n (row : Profile.row) -> n + row.count)
      0 (Profile.waits profile)
  in
  Check.int "all" (Minute.waits ~seconds ~per_second) all

let rare () =
  let kept, _ = Lazy.force minute in
  let t = Kept.timeline kept in
  match
    List.filter (fun (w : Timeline.wait) -> w.structure = "backup") t.waits
  with
  | [ { begun_ns; ended_ns; stands_for; wake; _ } ] ->
      Check.int "its time" (second * 4 / 10) (ended_ns - begun_ns);
      Check.int "alone" 1 stands_for;
      Check.yes "with its waker" (Option.is_some wake)
  | waits -> Check.int "once" 1 (List.length waits)

(* Runs are only where it is known who runs, and each wait there is. *)
let complete_parts () =
  let kept, _ = Lazy.force minute in
  let t = Kept.timeline kept in
  Check.yes "zones" (t.zones <> []);
  ignore
    (List.fold_left
       (fun until (z : Timeline.zone) ->
         Check.yes "apart" (until < z.from_ns && z.from_ns < z.until_ns);
         z.until_ns)
       0 t.zones
      : int);
  List.iter
    (fun (r : Timeline.run) ->
      Check.no "a run begins where it isn't known" (within t r.from_ns);
      Check.no "it continues there"
        (r.until_ns > r.from_ns && within t (r.until_ns - 1)))
    t.runs;
  let begun =
    List.filter
      (fun (w : Timeline.wait) -> w.begun_ns < second / 1_000 * 49)
      t.waits
  in
  Check.int "the first 49 ms" (per_second * 49 / 1_000) (List.length begun)

(* --- Hand-made events ---------------------------------------------------------------- *)

let task id = { Trace.id; host = "eio"; name = Printf.sprintf "fiber %d" id }
let item ~at event = { Recorder.pid = 1; time_ns = at; event }

let suspended ~at ?(structure = "") wait task =
  item ~at
    (Told
       (Suspended
          { wait; task; domain = 0; operation = "o"; structure; at = "a.ml:1" }))

let resumed ~at ?(outcome = Trace.Returned) wait task =
  item ~at (Told (Resumed { wait; task; domain = 0; outcome }))

(* Waits of all different kinds leave no choice but to drop the oldest. *)
let all_different () =
  let kept = Kept.create ~most:1_000 () in
  for i = 1 to 10_000 do
    let at = i * second / 100 in
    let structure = string_of_int i in
    Kept.add kept (suspended ~at ~structure i (task 1));
    Kept.add kept (resumed ~at:(at + 1_000) i (task 1));
    if i mod 10 = 0 then Kept.trim kept
  done;
  Check.yes "the bound" (number_of_items kept <= 1_010);
  match Kept.sampling kept with
  | Some { cut_ns = Some ns; _ } ->
      Check.yes "how much is left" (ns > second && ns < 10 * second);
      let t = Kept.timeline kept in
      Check.yes "from there on" (t.from_ns >= (100 * second) - ns)
  | Some { cut_ns = None; _ } | None -> Alcotest.fail "it isn't said"

(* A wait without its end, a task, an unusual outcome and a mark. *)
let not_left_out () =
  let kept = Kept.create ~most:300 () in
  let forked =
    item ~at:1
      (Told
         (Forked { task = task 9; parent = task 1; domain = 0; at = "b.ml:2" }))
  in
  Kept.add kept forked;
  Kept.add kept (suspended ~at:2 ~structure:"open" 1_000_000 (task 9));
  for i = 1 to 10_000 do
    let at = i * second / 100 in
    let outcome = if i = 4_999 then Trace.Cancelled else Returned in
    Kept.add kept (suspended ~at i (task 1));
    Kept.add kept (resumed ~at:(at + 1_000) ~outcome i (task 1));
    if i mod 1_000 = 7 then begin
      Kept.add kept
        (item ~at:(at + 2_000)
           (Lost { domain = 0; since_ns = at + 1_500; bytes = 8 }))
    end;
    if i = 4_997 then
      Kept.add kept
        (item ~at:(at + 3_000)
           (Told (Mark { task = task 1; domain = 0; text = "here" })));
    if i mod 10 = 0 then Kept.trim kept
  done;
  let t = Kept.timeline kept in
  Check.yes "the bound" (number_of_items kept <= 320);
  Check.yes "one cancelled"
    (List.exists
       (fun (w : Timeline.wait) -> w.outcome = Some Cancelled)
       t.waits);
  Check.int "a mark" 1 (List.length t.marks);
  let bytes = List.fold_left (fun n (_, bytes) -> n + bytes) 0 t.losses in
  Check.int "bytes that were lost" 80 bytes

(* A long trace takes as much memory as a short one. *)
let a_day () =
  let kept = Kept.create ~most:2_000 () in
  let seconds from n =
    for i = from to from + n - 1 do
      let task = task (i mod 10) in
      Kept.add kept
        (item ~at:(i * second)
           (Told (Forked { task; parent = task; domain = 0; at = "" })));
      Kept.add kept (suspended ~at:(i * second) i task);
      Kept.add kept (resumed ~at:((i * second) + 1_000) i task);
      Kept.add kept
        (item ~at:((i * second) + 2_000) (Told (Ended { task; domain = 0 })));
      Kept.trim kept
    done;
    Check.words kept
  in
  let first = seconds 1 2_000 in
  Check.yes "no growth" (seconds 2_001 86_400 <= first + (first / 2))

let () =
  Check.run "sampled"
    [
      ( "a minute",
        [
          Check.test "the bound" bound;
          Check.test "covered" covered;
          Check.test "exact sums" exact;
          Check.test "a rare wait" rare;
          Check.test "complete parts" complete_parts;
        ] );
      ( "by hand",
        [
          Check.test "all different" all_different;
          Check.test "not left out" not_left_out;
          Check.test "a day" a_day;
        ] );
    ]
