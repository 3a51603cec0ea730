type row = { pair : string; cells : Pair.cell list }
type choice = All | Drawn of { seed : int; of_each_row : int }

(* --- Reasons, by a letter each --- *)

let letters = "abcdefghijklmnopqrstuvwxyz"
let reasons = ref []

let letter reason =
  let known = !reasons in
  if not (List.mem reason known) then reasons := known @ [ reason ];
  letters.[Option.get (List.find_index (( = ) reason) !reasons)]

(* --- A cell that fails, or never ends --- *)

let current = Atomic.make None
let limit = 60.

let give_up ~code what =
  let cell = Option.fold (Atomic.get current) ~none:"no cell" ~some:fst in
  Printf.printf "\n%s: %s\n%!" cell what;
  (* It ends at once, because [exit] would wait for tasks that hang. *)
  Unix._exit code

let failed e =
  give_up ~code:1 (Printexc.to_string e ^ "\n" ^ Printexc.get_backtrace ())

let rec watch () =
  Thread.delay 0.5;
  (match Atomic.get current with
  | Some (_, began) when Unix.gettimeofday () > began +. limit ->
      give_up ~code:2 (Printf.sprintf "no end after %.0f s" limit)
  | _ -> ());
  watch ()

(* --- Rows --- *)

let ran = ref 0
let not_drawn = ref 0
let skipped = ref 0
let width = 40
let mark c = Printf.printf " %c%!" c

let cell ~is_chosen pair (cell : Pair.cell) =
  match cell.skipped with
  | Some reason ->
      incr skipped;
      mark (letter reason)
  | None when not (is_chosen cell) ->
      incr not_drawn;
      mark '.'
  | None -> (
      let name = Printf.sprintf "%s, %s" pair cell.structure in
      Atomic.set current (Some (name, Unix.gettimeofday ()));
      match cell.run () with
      | () ->
          Atomic.set current None;
          incr ran;
          mark '+'
      | exception e -> failed e)

let draw random ~of_each_row cells =
  let keyed =
    List.filter (fun (c : Pair.cell) -> c.skipped = None) cells
    |> List.map (fun c -> (Random.State.bits random, c))
  in
  List.sort (fun (a, _) (b, _) -> Int.compare a b) keyed
  |> List.filteri (fun i _ -> i < of_each_row)
  |> List.map snd

let row random choice { pair; cells } =
  let is_chosen =
    match choice with
    | All -> fun _ -> true
    | Drawn { of_each_row; _ } ->
        let drawn = draw random ~of_each_row cells in
        fun cell -> List.memq cell drawn
  in
  Printf.printf "%-*s" width pair;
  List.iter (cell ~is_chosen pair) cells;
  print_newline ()

(* The names of the columns, from top to bottom. *)
let heads names =
  let height = List.fold_left max 0 (List.map String.length names) in
  for line = 0 to height - 1 do
    let letter name =
      let i = line - (height - String.length name) in
      if i < 0 then " " else String.make 1 name.[i]
    in
    Printf.printf "%s %s\n" (String.make width ' ')
      (String.concat " " (List.map letter names))
  done

let legend choice =
  Printf.printf "\n+ passed: %d\n" !ran;
  if choice <> All then Printf.printf ". not drawn: %d\n" !not_drawn;
  Printf.printf "skipped: %d\n" !skipped;
  List.iter
    (fun reason -> Printf.printf "%c %s\n" (letter reason) reason)
    !reasons

let print ~title ~structures choice rows =
  Printexc.record_backtrace true;
  ignore (Thread.create watch () : Thread.t);
  let random =
    match choice with
    | All ->
        Printf.printf "%s: all cells\n\n" title;
        Random.State.make [||]
    | Drawn { seed; of_each_row } ->
        Printf.printf
          "%s: %d cells of each row, by CONCORD_SEED=%d; CONCORD_LONG=1 runs \
           all\n\n"
          title of_each_row seed;
        Random.State.make [| seed |]
  in
  heads structures;
  rows (row random choice);
  legend choice
