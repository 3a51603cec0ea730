(* What is observed comes and goes in each order. Suspensions take the slow path while there is any
   reason for it. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Observer = Concord__core__Observer

(* --- Any two reasons ------------------------------------------------------------ *)

type change = Add of string | Remove of string

let show = function Add name -> "+" ^ name | Remove name -> "-" ^ name

let perform change =
  let name, f =
    match change with
    | Add name -> (name, Observer.start)
    | Remove name -> (name, Observer.stop)
  in
  f (List.assoc name Observer.all)

let rec orders first second =
  match (first, second) with
  | [], rest | rest, [] -> [ rest ]
  | x :: xs, y :: ys ->
      List.map (List.cons x) (orders xs second)
      @ List.map (List.cons y) (orders first ys)

let there_after changes =
  let after there = function
    | Add name -> name :: there
    | Remove name -> List.filter (( <> ) name) there
  in
  List.fold_left after [] changes

let check_order changes =
  let step performed change =
    perform change;
    let performed = performed @ [ change ] in
    let there = there_after performed in
    let what = String.concat " " (List.map show performed) in
    let is_slow name = not (List.mem name [ "labels"; "strict" ]) in
    yes what (Observer.takes_slow_path () = List.exists is_slow there);
    let check (name, reason) =
      yes (what ^ ": " ^ name) (Observer.is reason = List.mem name there)
    in
    List.iter check Observer.all;
    performed
  in
  no "at first" (Observer.takes_slow_path ());
  ignore (List.fold_left step [] changes : change list)

let on_and_off name = [ Add name; Remove name ]

let any_two () =
  let names = List.map fst Observer.all in
  let pair first second =
    if first < second then
      List.iter check_order (orders (on_and_off first) (on_and_off second))
  in
  List.iter (fun first -> List.iter (pair first) names) names

(* Each domain adds and removes its own reason, while the other does the same. *)
let at_once () =
  (* Alcotest's checks print, so they must not be called on two domains at once. *)
  let is what right = if not right then failwith what in
  let toggle reason () =
    for _ = 1 to Race.often 10_000 do
      Observer.start reason;
      is "it is not there" (Observer.is reason);
      Observer.stop reason;
      is "it is still there" (not (Observer.is reason))
    done
  in
  let other = domain (toggle Observer.waits) in
  toggle Observer.trace ();
  other ();
  no "at the end" (Observer.takes_slow_path ())

(* --- A whole program ------------------------------------------------------------- *)

(* What a program does, in a process of its own, because no plug-in ever leaves. *)
type step = Keep_waits | Start_trace | Stop_trace | Plug_in

let name = function
  | Keep_waits -> "keep_waits"
  | Start_trace -> "start_trace"
  | Stop_trace -> "stop_trace"
  | Plug_in -> "plug_in"

let rec insertions x = function
  | [] -> [ [ x ] ]
  | y :: ys as all -> (x :: all) :: List.map (List.cons y) (insertions x ys)

let programs =
  orders [ Start_trace; Stop_trace ] []
  |> List.concat_map (insertions Keep_waits)
  |> List.concat_map (insertions Plug_in)

let steps = [ Keep_waits; Start_trace; Stop_trace; Plug_in ]

(* An unknown effect ends a task of this scheduler, so each wait must go through the
   plug-in. *)
let plug_in () =
  let module Taking =
    Foreign.Make
      (struct
        let name = "taking"
        let takes_every_effect = true
      end)
      ()
  in
  fun () ->
    let p = Promise.create () in
    let got = ref 0 in
    Taking.run_registered (fun () ->
        Taking.all
          [ (fun () -> got := Promise.await p); (fun () -> Promise.fill p 42) ]);
    int "the wait" 42 !got

let child names =
  let plugged = ref None in
  let perform before name_ =
    let step = List.find (fun step -> name step = name_) steps in
    (match step with
    | Keep_waits -> Debug.keep_waits ()
    | Start_trace -> Trace.start ()
    | Stop_trace -> Trace.stop ()
    | Plug_in -> plugged := Some (plug_in ()));
    let done_ = step :: before in
    let is step = List.mem step done_ in
    yes ("after " ^ name_)
      (Concord__core__Observer.takes_slow_path ()
      = (debugged || is Keep_waits || is Plug_in
        || (is Start_trace && not (is Stop_trace))));
    Option.iter (fun waits -> waits ()) !plugged;
    done_
  in
  ignore (List.fold_left perform [] names : step list)

let environment debug =
  let is_other binding =
    not (String.starts_with ~prefix:"CONCORD_DEBUG=" binding)
  in
  let others = List.filter is_other (Array.to_list (Unix.environment ())) in
  Array.of_list (("CONCORD_DEBUG=" ^ debug) :: others)

let start debug names =
  let self = Sys.executable_name in
  let argv = Array.of_list (self :: names) in
  Unix.create_process_env self argv (environment debug) Unix.stdin Unix.stdout
    Unix.stderr

let program debug steps () =
  let pid = start debug (List.map name steps) in
  match snd (Unix.waitpid [] pid) with
  | WEXITED 0 -> ()
  | WEXITED _ | WSIGNALED _ | WSTOPPED _ -> Alcotest.fail "see above"

let program_cases debug =
  let case steps =
    test (String.concat ", " (List.map name steps)) (program debug steps)
  in
  List.map case programs

let () =
  match List.tl (Array.to_list Sys.argv) with
  | first :: _ as names when List.exists (fun s -> name s = first) steps ->
      child names
  | _ ->
      run "The slow path"
        [
          ( "reasons",
            unless_debugged (test "any two, in each order" any_two)
            @ unless_debugged (test "on two domains at once" at_once) );
          ("a program", program_cases "");
          ("a program that looks for leaks", program_cases "leaks");
        ]
