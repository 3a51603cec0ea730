(* A task of a model, and its result. *)

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
  | exception Errors.Closed -> a.result <- "closed"

(* Runs in the calling process, but in no task. *)
let work a = ignore (a.work () : string)

let count_waiting actors =
  List.length (List.filter (fun a -> a.result == waiting) actors)

let describe actors =
  String.concat " " (List.map (fun a -> a.name ^ "=" ^ a.result) actors)

type process = Run of t | Cancel of t | Do of (unit -> unit)

(* Returns the processes and the actors of a model in which the tasks [first] already wait, in
   this order, when the processes start. *)
let start first processes =
  List.iter run first;
  let ran = function Run a -> Some a | Cancel _ | Do _ -> None in
  let process = function
    | Run a -> fun () -> run a
    | Cancel a -> fun () -> Model.cancel a.task
    | Do f -> f
  in
  (List.map process processes, first @ List.filter_map ran processes)

(* How many waiters of a queue are live. It also fails if withdrawn waiters stay in the queue. *)
let live waiters =
  let live = ref 0 and all = ref 0 in
  let look w =
    incr all;
    if Waiter.is_live w then incr live
  in
  Waiters.iter look waiters;
  if !all > !live then failwith "cancelled waiters stay";
  if Waiters.length waiters <> !live then failwith "miscounted";
  !live

(* Fails unless the live waiters of [queues] are as many as the actors that wait. *)
let all_queued actors queues =
  if count_waiting actors <> List.fold_left ( + ) 0 queues then
    failwith ("a waiter was lost, or stays: " ^ describe actors)

(* How often a task spins before it enlists. Only one process may spin at a time, as with the
   threads of one domain. The counters are reset because what [Spin] learns in one interleaving
   would change the next one. *)
let spin_at_most n =
  Domains.spawned := n > 0;
  let spin = Domain.DLS.get Operation.spins in
  spin.in_vain <- 0;
  spin.in_a_row <- 0;
  spin.spinning <- false;
  Spin.limit spin n

(* A seat that an earlier interleaving left would change the next one. *)
let forget_seats () = (Domain.DLS.get Slot.spares).unused <- Slot.no_seat
