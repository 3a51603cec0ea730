open Top_model

type view = Places | Tasks | Place of place | Task of task

(* [above] are the views from which the user came to [view], with the row that was selected. *)
type t = {
  view : view;
  above : (view * int) list;
  selected : int;
  places_by : char;
  tasks_by : char;
}

let start =
  { view = Places; above = []; selected = 0; places_by = 'w'; tasks_by = 'l' }

(* --- Order ---------------------------------------------------------------------- *)

let or_zero = Option.value ~default:0.

let place_value by row =
  match by with
  | 'l' -> row.longest
  | 'r' -> row.wakes
  | 'm' -> or_zero row.wait
  | 'h' -> or_zero row.hold
  | _ -> float row.waiting

let task_value by row =
  match by with
  | 'r' -> row.resumed
  | 'o' -> row.woke
  | 'm' -> row.waited
  | _ -> row.for_

(* [name] decides between equal rows, so that these keep their places. *)
let sorted value compare_names rows =
  List.map (fun row -> (value row, row)) rows
  |> List.sort (fun (a, row) (b, row') ->
      match Float.compare b a with
      | 0 -> compare_names row row'
      | order -> order)
  |> List.map snd

let places t { places; _ } =
  sorted (place_value t.places_by)
    (fun (a : place_row) (b : place_row) -> compare a.place b.place)
    places

let in_place place { state; _ } =
  match state with Waits in_ | Woken in_ -> in_ = place | Runs -> false

let unsorted_tasks t { tasks; _ } =
  match t.view with
  | Place place -> List.filter (in_place place) tasks
  | Places | Tasks | Task _ -> tasks

let compare_tasks (a : task_row) (b : task_row) =
  match Int.compare a.task.id b.task.id with
  | 0 -> Int.compare a.task.pid b.task.pid
  | order -> order

let tasks t snapshot =
  sorted (task_value t.tasks_by) compare_tasks (unsorted_tasks t snapshot)

(* --- Keys ------------------------------------------------------------------------ *)

type key = Up | Down | Enter | Back | Character of char

let keys text =
  let rec from i =
    let at k = if i + k < String.length text then text.[i + k] else ' ' in
    if i >= String.length text then []
    else
      match text.[i] with
      | '\027' when (at 1 = '[' || at 1 = 'O') && at 2 = 'A' ->
          Up :: from (i + 3)
      | '\027' when (at 1 = '[' || at 1 = 'O') && at 2 = 'B' ->
          Down :: from (i + 3)
      | '\027' when at 1 = '[' || at 1 = 'O' -> from (i + 3)
      | '\027' | '\127' | '\b' -> Back :: from (i + 1)
      | '\r' | '\n' -> Enter :: from (i + 1)
      | char -> Character char :: from (i + 1)
  in
  from 0

let number_of_rows t snapshot =
  match t.view with
  | Places -> List.length snapshot.places
  | Tasks | Place _ -> List.length (unsorted_tasks t snapshot)
  | Task _ -> 0

(* Rows may have gone since the row was selected. *)
let selected t snapshot =
  Int.max 0 (Int.min t.selected (number_of_rows t snapshot - 1))

let into t view =
  { t with view; above = (t.view, t.selected) :: t.above; selected = 0 }

let enter t snapshot =
  let at rows = List.nth_opt rows (selected t snapshot) in
  match t.view with
  | Places ->
      Option.fold ~none:t
        ~some:(fun row -> into t (Place row.place))
        (at (places t snapshot))
  | Tasks | Place _ ->
      Option.fold ~none:t
        ~some:(fun (row : task_row) -> into t (Task row.task))
        (at (tasks t snapshot))
  | Task _ -> t

let back t =
  match t.above with
  | [] -> t
  | (view, selected) :: above -> { t with view; above; selected }

let is_about_places t = t.view = Places

let press t snapshot = function
  | Character ('q' | 'Q' | '\003') -> None
  | Up | Character 'k' ->
      Some { t with selected = Int.max 0 (selected t snapshot - 1) }
  | Down | Character 'j' -> Some { t with selected = selected t snapshot + 1 }
  | Enter -> Some (enter t snapshot)
  | Back -> Some (back t)
  | Character 's' -> Some { t with view = Places; above = []; selected = 0 }
  | Character 't' -> Some { t with view = Tasks; above = []; selected = 0 }
  | Character (('w' | 'l' | 'r' | 'm' | 'h') as by) when is_about_places t ->
      Some { t with places_by = by }
  | Character (('l' | 'r' | 'o' | 'm') as by) when not (is_about_places t) ->
      Some { t with tasks_by = by }
  | Character _ -> Some t

(* --- Lines ------------------------------------------------------------------------ *)

let time seconds =
  if seconds < 1e-3 then Printf.sprintf "%.0f us" (seconds *. 1e6)
  else if seconds < 1. then Printf.sprintf "%.1f ms" (seconds *. 1e3)
  else Printf.sprintf "%.1f s" seconds

let or_dash = Option.fold ~none:"-" ~some:time

let place_text { operation; structure; line } =
  let operation = if operation = "" then "a wait of its own" else operation in
  if structure <> "" then Printf.sprintf "%s %S" operation structure
  else if line <> "" then Printf.sprintf "%s at %s" operation line
  else operation

let places_head = " WAITING   LONGEST   WAKES/S      WAIT      HOLD  OPERATION"

let place_line { place; waiting; longest; wakes; wait; hold } =
  Printf.sprintf " %7d %9s %9.1f %9s %9s  %s" waiting
    (if waiting = 0 then "-" else time longest)
    wakes (or_dash wait) (or_dash hold) (place_text place)

let tasks_head = " STATE       FOR RESUMED/S    WOKE/S  WAITED  TASK"

let task_line { name; domain; state; for_; resumed; woke; waited; _ } =
  let word, where =
    match state with
    | Waits place -> ("waits", " in " ^ place_text place)
    | Woken place -> ("woken", " in " ^ place_text place)
    | Runs -> ("runs", "")
  in
  Printf.sprintf " %-5s %9s %9.1f %9.1f %6.0f%%  %s on domain %d%s" word
    (time for_) resumed woke (100. *. waited) name domain where

let counted (name, n) = Printf.sprintf "   %7d  %s" n name

(* The selected row is always among those that are shown, and no others become text. *)
let window ~room ~selected rows line =
  let from = Int.max 0 (selected - room + 1) in
  Seq.take room (Seq.drop from (List.to_seq rows))
  |> Seq.mapi (fun i row ->
      let line = line row in
      if from + i = selected then
        ">" ^ String.sub line 1 (String.length line - 1)
      else line)
  |> List.of_seq

let most_counted = 5
let first n list = List.filteri (fun i _ -> i < n) list

let body t model snapshot ~room =
  let selected = selected t snapshot in
  let table head rows line ~room =
    head :: window ~room:(Int.max 1 (room - 1)) ~selected rows line
  in
  let task_table ~room = table tasks_head (tasks t snapshot) task_line ~room in
  match t.view with
  | Places -> table places_head (places t snapshot) place_line ~room
  | Tasks -> task_table ~room
  | Place place ->
      let itself =
        List.find_opt
          (fun (row : place_row) -> row.place = place)
          snapshot.places
        |> Option.fold ~none:[] ~some:(fun row ->
            [ places_head; place_line row ])
      in
      let wakers =
        match first most_counted (wakers model place) with
        | [] -> []
        | some -> " Woken by, times:" :: List.map counted some
      in
      let above = itself @ wakers in
      above @ task_table ~room:(room - List.length above)
  | Task task ->
      let itself =
        List.filter (fun (row : task_row) -> row.task = task) snapshot.tasks
        |> List.map task_line
      in
      let waits =
        waits_of model task
        |> List.map (fun (place, n) -> counted (place_text place, n))
      in
      tasks_head
      :: (if List.is_empty itself then [ " It has ended." ] else itself)
      @ (" Has waited, times:" :: waits)

let help t =
  let sort = if is_about_places t then "sort: w l r m h" else "sort: l r o m" in
  Printf.sprintf " q quit  s structures  t tasks  Enter details  Esc back  %s"
    sort

let header snapshot ~title =
  let waiting = List.fold_left (fun n row -> n + row.waiting) 0 snapshot.places
  and wakes =
    List.fold_left (fun sum row -> sum +. row.wakes) 0. snapshot.places
  in
  Printf.sprintf "%s: %d waiting, %.1f wakes/s%s" title waiting wakes
    (if snapshot.unsure = 0 then ""
     else
       Printf.sprintf " (events were lost, so %d waits may have ended)"
         snapshot.unsure)

let rec padded n lines =
  match lines with
  | [] -> List.init (Int.max 0 n) (fun _ -> "")
  | line :: rest -> if n <= 0 then [] else line :: padded (n - 1) rest

let lines t model snapshot ~title ~rows ~columns =
  let room = Int.max 1 (rows - 2) in
  (header snapshot ~title :: padded room (body t model snapshot ~room))
  @ [ help t ]
  |> List.map (Screen.fit ~columns)
