module Numbers = Set.Make (Int)
module Sites = Map.Make (String)

type seen = { number : int; site : string }

(* [known] are the waits that were reported, or that are alike. [sites] has the time of the last
   report of each site, while that matters. *)
type state = { known : Numbers.t; sites : float Sites.t; next_at : float }

let start =
  { known = Numbers.empty; sites = Sites.empty; next_at = neg_infinity }

let again = 10.

let step ~limit ~now slow { known; sites; next_at } =
  let sites = Sites.filter (fun _ at -> now -. at < again *. limit) sites in
  let numbers = Numbers.of_list (List.map (fun { number; _ } -> number) slow) in
  let known = Numbers.inter known numbers in
  let news =
    List.filter (fun { number; _ } -> not (Numbers.mem number known)) slow
  in
  let is_due { site; _ } = not (Sites.mem site sites) in
  if now < next_at then ({ known; sites; next_at }, [])
  else
    match List.filter is_due news with
    | [] -> ({ known; sites; next_at }, [])
    | due ->
        let sites =
          List.fold_left
            (fun sites { site; _ } -> Sites.add site now sites)
            sites due
        in
        ( { known = numbers; sites; next_at = now +. (limit /. 2.) },
          List.map (fun { number; _ } -> number) due )

(* --- Watching ------------------------------------------------------------------ *)

let now () = Int64.to_float (Mtime_clock.now_ns ()) *. 1e-9

(* A task that waits for a descriptor, as servers do, isn't slow. *)
let is_outside (wait : Waits.t) =
  List.exists (fun (t : Target.t) -> t.from_outside) wait.targets

let slow_ones ~limit ~now =
  let is_slow since = now -. (Int64.to_float since *. 1e-9) >= limit in
  let waits (wait : Waits.t) = is_slow wait.begun_ns && not (is_outside wait)
  and woken (wait : Waits.t) = is_slow wait.resumed_ns in
  List.filter waits (Waits.all ()) @ List.filter woken (Waits.resumed ())

let seen (wait : Waits.t) =
  let operations = List.map (fun (t : Target.t) -> t.operation) wait.targets in
  let site = String.concat ", " (Call_site.line wait.waits_at :: operations) in
  { number = wait.number; site }

let only numbers (report : Debug_report.report) =
  let is_one (wait : Debug_report.wait) = Numbers.mem wait.number numbers in
  {
    report with
    cycles = List.filter (List.exists is_one) report.cycles;
    behind = List.filter is_one report.behind;
    waits = List.filter is_one report.waits;
    woken = List.filter is_one report.woken;
  }

let write limit numbers =
  let report = only (Numbers.of_list numbers) (Debug_report.now ()) in
  if not (List.is_empty report.waits && List.is_empty report.woken) then
    Debug_helpers.write
      (Printf.sprintf "concord: these tasks have waited for more than %g s.\n%s"
         limit
         (Debug_text.of_report report))

let check ~limit state =
  let now = now () in
  let slow = List.map seen (slow_ones ~limit ~now) in
  let state, numbers = step ~limit ~now slow state in
  if not (List.is_empty numbers) then write limit numbers;
  state

let watch limit =
  let pause = Float.max 0.005 (Float.min 1. (limit /. 4.)) in
  let rec serve state =
    Thread.delay pause;
    serve
      (match check ~limit state with
      | state -> state
      | exception e ->
          Debug_helpers.write
            (Printf.sprintf "concord: the report failed: %s\n"
               (Printexc.to_string e));
          state)
  in
  Observer.(start waits);
  Debug_helpers.start (fun () -> serve start)
