open Case

type t = {
  effort : Effort.t;
  seconds : float;
  per_cost : float;  (** Seconds per unit of cost. *)
  begun : Meter.instant;
  mutable to_come : float;
      (** The cost of the comparisons that have had no share yet. *)
  shared : (string * string, unit) Hashtbl.t;
      (** The loads that have had their share. *)
}

(* Several comparisons may have the same load, which is measured only once. *)
let cost effort seen (group : group) comparison =
  match comparison.baseline.sample with
  | Load { name; _ } when Hashtbl.mem seen (group.name, name) -> 0.
  | Load { name; _ } ->
      Hashtbl.add seen (group.name, name) ();
      Effort.cost_s effort comparison
  | Time _ | Crowd _ | Counted _ -> Effort.cost_s effort comparison

let cost_of_all effort groups =
  let seen = Hashtbl.create 16 in
  let of_group group =
    List.map (cost effort seen group) group.comparisons
    |> List.fold_left ( +. ) 0.
  in
  List.fold_left (fun sum group -> sum +. of_group group) 0. groups

let create (effort : Effort.t) ~all groups =
  let to_come = cost_of_all effort groups in
  let part = effort.run_s *. to_come /. cost_of_all effort all
  and alone = effort.group_s *. float_of_int (List.length groups) in
  let seconds = Float.max part (Float.min effort.run_s alone) in
  {
    effort;
    seconds;
    per_cost = seconds /. to_come;
    begun = Meter.now ();
    to_come;
    shared = Hashtbl.create 16;
  }

let left_s t = Float.max 0. (t.seconds -. (1e-9 *. Meter.ns_since t.begun))

(* The last comparisons get at least this part, even if earlier ones took longer than
   planned. *)
let at_least = 0.6

let share_s t group comparison =
  let cost = cost t.effort t.shared group comparison in
  let share =
    if cost = 0. then 0.
    else
      Float.max
        (left_s t *. Float.min 1. (cost /. t.to_come))
        (at_least *. t.per_cost *. cost)
  in
  t.to_come <- t.to_come -. cost;
  share
