(* Short random programs on two domains, whose end must be one of those that are possible if
   each operation is one step.

   Each domain drives the tasks of its own scheduler. Before the race some tasks already wait.
   At the end both schedulers have no more to do, and the state is looked at. *)

open Structure_signature
module Hand = Operation_hand

(* --- A second domain ------------------------------------------------------------- *)

(* State of [job]   Left by   To
   Idle             caller    Work f
   Work f           worker    Idle, after [f ()]
   Stop             never *)
type job = Idle | Work of (unit -> unit) | Stop

(* On a busy machine the other domain may be long without a processor. *)
let rec until ?(spins = 0) condition =
  if not (condition ()) then begin
    if spins < 2_000 then Domain.cpu_relax () else Unix.sleepf 0.000_05;
    until ~spins:(spins + 1) condition
  end

let with_worker f =
  let job = Atomic.make Idle in
  let rec work () =
    until (fun () -> Atomic.get job <> Idle);
    match Atomic.get job with
    | Idle -> work ()
    | Stop -> ()
    | Work f ->
        f ();
        Atomic.set job Idle;
        work ()
  in
  let domain = Domain.spawn work in
  (* Calls the two functions at the same time. *)
  let together f g =
    let here = Atomic.make 0 in
    let meet () =
      Atomic.incr here;
      until (fun () -> Atomic.get here = 2)
    in
    Atomic.set job
      (Work
         (fun () ->
           meet ();
           g ()));
    meet ();
    f ();
    until (fun () -> Atomic.get job == Idle)
  in
  Fun.protect
    (fun () -> f together)
    ~finally:(fun () ->
      Atomic.set job Stop;
      Domain.join domain)

(* --- One race ---------------------------------------------------------------------- *)

module Make (S : STRUCTURE) = struct
  module Scenario = Structure_scenario.Make (S)
  open Scenario

  let text task =
    match Hand.outcome task with
    | Waits -> "waits"
    | Returned result -> result
    | Raised (Hand.Cancelled, _) -> Description.withdrawn
    | Raised (e, _) -> "raises " ^ Printexc.to_string e

  (* A side starts after its delay. If it is prompt, cancelled tasks leave at once, and otherwise
     they refuse until all steps of the side are done. *)
  type pace = { delay : int; prompt : bool }

  let really together paces { before; sides } =
    let t = S.create () and hands = Array.init 2 (fun _ -> Hand.create ()) in
    (* Each domain has a table of its own, because tables aren't atomic. *)
    let tables = Array.init 2 (fun _ -> Hashtbl.create 8) in
    (* Each task may resume one of the other scheduler. *)
    let settle () =
      for _ = 0 to Hashtbl.length tables.(0) + Hashtbl.length tables.(1) do
        Array.iter Hand.settle hands
      done
    in
    let perform side = function
      | Arrive (task, way, operation) ->
          let run () = Ways.perform t way operation in
          Hashtbl.replace tables.(side) task (Hand.start hands.(side) run)
      | Cancel task ->
          ignore (Hand.stop (Hashtbl.find tables.(side) task) : bool);
          if paces.(side).prompt then Hand.settle hands.(side)
    in
    List.iteri
      (fun task step ->
        perform (task mod 2) step;
        settle ())
      before;
    let side i () =
      for _ = 1 to paces.(i).delay do
        Domain.cpu_relax ()
      done;
      List.iter (perform i) (List.nth sides i);
      Hand.settle hands.(i)
    in
    together (side 0) (side 1);
    settle ();
    let waiting = S.waiters t in
    List.iter
      (fun (task, way, operation) ->
        perform 0 (Arrive (task, way, operation));
        settle ())
      looks;
    let results table =
      List.of_seq
        (Seq.map (fun (n, task) -> (n, text task)) (Hashtbl.to_seq table))
    in
    ending (List.concat_map results (Array.to_list tables)) waiting

  (* Of two races, the one with more ends, because more faults show in it. The same race is
     repeated, because it may end in different ways. *)
  let check ~often together random =
    let rec draw () =
      let race = Scenario.random random ~before:4 ~each:3 in
      let possible = possible race in
      if is_misuse possible then draw () else (race, possible)
    in
    let race, possible =
      let ((_, one) as first) = draw () and ((_, other) as second) = draw () in
      if List.length other > List.length one then second else first
    in
    for _ = 1 to often do
      let pace _ =
        let delay = Random.State.int random (1 lsl Random.State.int random 6) in
        { delay; prompt = Random.State.bool random }
      in
      let seen = really together (Array.init 2 pace) race in
      if not (List.mem seen possible) then
        Trial.fail
          "%s: no order of these steps leads there (first those before the \
           race, then those of each domain):\n\
          \  %s\n\
           The description allows:\n\
           %s"
          (show_end seen) (show race)
          (String.concat "\n"
             (List.map (fun ending -> "  " ^ show_end ending) possible))
    done
end
