(* Scenarios for an operation whose structure's description says too little: tasks wait for it,
   and some of them are cancelled while another process serves them. The possible outcomes follow
   from how the structure serves its waiters. *)

open Actor

type service =
  | First  (** Serves the first waiter. *)
  | All  (** Serves all waiters, maybe one after the other. *)

let names = [ "a"; "b"; "c"; "d" ]
let name w = List.nth names (w - 1)
let upto n = List.init n succ

let rec subsets = function
  | [] -> [ [] ]
  | x :: rest ->
      let without = subsets rest in
      List.map (List.cons x) without @ without

(* The possible outcomes for the waiters 1 to [n], in this order of arrival, if other processes
   try to cancel [targets]. A cancellation fails only if the target was served first. *)
let outcomes service n targets ~served ~rest =
  let waiters = upto n in
  let show cancelled =
    let is_cancelled w = List.mem w cancelled in
    let left = List.filter (fun w -> not (is_cancelled w)) waiters in
    let are_served =
      match (service, left) with
      | All, _ -> left
      | First, first :: _ -> [ first ]
      | First, [] -> []
    in
    let is_served w = List.mem w are_served in
    let result w =
      if is_cancelled w then "cancelled"
      else if is_served w then served
      else waiting
    in
    let shown = List.map (fun w -> name w ^ "=" ^ result w) waiters in
    if List.for_all (fun w -> is_cancelled w || is_served w) targets then
      Some (String.concat " " shown ^ rest are_served)
    else None
  in
  List.filter_map show (subsets targets)

(* [check what ways ~create ~serve ~served ~rest ~at_rest] checks each of [ways] (for example
   direct style, or an event). A way makes waiter 1, 2 and so on, with that waiter's name. The
   waiter has to wait in the state that [create] makes. [serve] serves the first waiter or all
   of them, and their results are [served]. Without [remembers], a task that comes after
   [serve] has missed it. [rest] is what [at_rest] shows after the results if these waiters
   were served. Without [three], scenarios of three processes are left out, because they take
   minutes if steps are long. *)
let check ?(service = First) ?(remembers = true) ?(three = true) what ways
    ~create ~serve ~served ~rest ~at_rest =
  let check_way (way, wait) =
    let check ?(looks = 0) scenario make expect =
      Model.check (what ^ way ^ ": " ^ scenario) ~expect @@ fun () ->
      spin_at_most looks;
      let t = create () in
      let first, processes =
        make (fun w -> wait w (name w) t) (Do (fun () -> serve t))
      in
      let processes, actors = start first processes in
      (processes, at_rest t actors)
    in
    let outcomes = outcomes service ~served ~rest in
    let comes ?looks scenario =
      let make wait serve =
        let a = wait 1 in
        ([], [ Run a; serve; Cancel a ])
      in
      let missed =
        if remembers then [] else [ name 1 ^ "=" ^ waiting ^ rest [] ]
      in
      check ?looks scenario make (missed @ outcomes 1 [ 1 ])
    in
    let wait n targets =
      let make wait serve =
        let actors = List.map wait (upto n) in
        let cancel w = Cancel (List.nth actors (w - 1)) in
        (actors, serve :: List.map cancel targets)
      in
      let who = String.concat " and " (List.map name targets) in
      check
        (Printf.sprintf "%d wait, %s cancelled" n who)
        make (outcomes n targets)
    in
    let another_comes () =
      let make wait serve =
        let a = wait 1 in
        ([ a ], [ serve; Run (wait 2); Cancel a ])
      in
      let too_late result are_served =
        Printf.sprintf "%s=%s %s=%s%s" (name 1) result (name 2) waiting
          (rest are_served)
      in
      let missed =
        match (remembers, service) with
        | true, _ -> []
        | false, First -> [ too_late "cancelled" [] ]
        | false, All -> [ too_late "cancelled" []; too_late served [ 1 ] ]
      in
      check "one waits and is cancelled, another comes" make
        (missed @ outcomes 2 [ 1 ])
    in
    comes "one comes and is cancelled";
    comes ~looks:2 "one comes, spins and is cancelled";
    wait 2 [ 1 ];
    wait 2 [ 2 ];
    if way = "" then begin
      (* With four waiters, the server may remove the cancelled one before its cancellation
         counts it. *)
      if service = First then wait 4 [ 1 ];
      if three then begin
        another_comes ();
        wait 2 [ 1; 2 ]
      end
    end
  in
  List.iter check_way ways
