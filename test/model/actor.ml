(* A task of a model, and what became of it. *)

type t = {
  name : string;
  task : Model.task;
  work : unit -> string;
  mutable result : string;
}

let make name work = { name; task = Model.task (); work; result = "-" }
let waiting = "waits"

let run a =
  a.result <- waiting;
  Model.run a.task @@ fun () ->
  match a.work () with
  | result -> a.result <- result
  | exception Model.Cancelled -> a.result <- "cancelled"

let count_waiting actors =
  List.length (List.filter (fun a -> a.result == waiting) actors)

let describe actors =
  String.concat " " (List.map (fun a -> a.name ^ "=" ^ a.result) actors)

type process = Run of t | Cancel of t

(* The processes and the actors of a model in which [first] wait, in this order,
   when the processes start. *)
let start first processes =
  List.iter run first;
  let ran = function Run a -> Some a | Cancel _ -> None in
  let process = function
    | Run a -> fun () -> run a
    | Cancel a -> fun () -> Model.cancel a.task
  in
  (List.map process processes, first @ List.filter_map ran processes)
