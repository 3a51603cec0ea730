let yield = Suspend.yield

(* Each has its value: [Scope.run] has raised unless all have returned. *)
let keep cell f () = cell := Some (f ())

let both f g =
  let first = ref None in
  let second =
    Scope.run (fun scope ->
        Scope.fork scope (keep first f);
        g ())
  in
  (Option.get !first, second)

let rec start scope = function
  | [] -> ()
  | [ (f, cell) ] -> keep cell f ()
  | (f, cell) :: rest ->
      Scope.fork scope (keep cell f);
      start scope rest

let all fs =
  let tasks = List.map (fun f -> (f, ref None)) fs in
  Scope.run (fun scope -> start scope tasks);
  List.map (fun (_, cell) -> Option.get !cell) tasks

(* --- Those that are cancelled ---------------------------------------------- *)

(* A value that is there wins over a cancellation that comes then; a failure, or what a
   signal handler raises, does not. *)
let conclude (outcome : unit Scope.outcome) result =
  match (outcome, Atomic.get result) with
  | Failed (e, backtrace), _ -> Printexc.raise_with_backtrace e backtrace
  | Interrupted (e, backtrace), None | Unwound (e, backtrace), None ->
      Printexc.raise_with_backtrace e backtrace
  | Interrupted (e, backtrace), Some _ when not (Scope.is_of_host e) ->
      Printexc.raise_with_backtrace e backtrace
  | (Interrupted _ | Unwound _ | Returned () | Stopped), result -> result

(* [result], of [any]

   State   Left by  To                By whom
   None    add      Some v            a task of the scope, which then cancels it
   Some v  add      Some (combine v)  a task that ends after that
*)
let rec add combine result v =
  let before = Atomic.get result in
  let after = Option.fold before ~none:v ~some:(fun first -> combine first v) in
  if not (Atomic.compare_and_set result before (Some after)) then
    (* another task has ended, on another domain *)
    add combine result v

let any ?(combine = fun first _ -> first) fs =
  if List.is_empty fs then invalid_arg "Concord.any: no function";
  let result = Atomic.make None in
  let run scope f () =
    add combine result (f ());
    Scope.cancel scope
  in
  let rec start scope = function
    | [] -> ()
    | _ when Option.is_some (Atomic.get result) -> ()
    | [ f ] -> run scope f ()
    | f :: rest ->
        Scope.fork scope (run scope f);
        start scope rest
  in
  let outcome = Scope.run_to_end (fun scope -> start scope fs) in
  Option.get (conclude outcome result)

let first ?combine f g = any ?combine [ f; g ]
let sleep seconds = Event.sync (Event.timeout seconds)

let with_timeout seconds f =
  if Float.is_nan seconds then invalid_arg "Concord.with_timeout: not a number";
  let result = Atomic.make None and ended = Promise.create () in
  let watch scope () =
    let is_late =
      Event.select
        [
          Event.wrap (Event.timeout seconds) (fun () -> true);
          Event.wrap (Promise.await_evt ended) (fun () -> false);
        ]
    in
    if is_late then Scope.cancel scope
  in
  let body scope =
    Scope.fork scope (watch scope);
    Atomic.set result (Some (f ()));
    Promise.fill ended ()
  in
  conclude (Scope.run_to_end body) result

(* --- Lists ----------------------------------------------------------------- *)

(* [rest], what no task has begun yet

   State    Left by  To  By whom
   x :: xs  work     xs  a task of the scope, which then calls [f x]
            work     []  a task that fails
   []       never (terminal)
*)
let rec work rest f =
  match Atomic.get rest with
  | [] -> ()
  | x :: others as before ->
      if Atomic.compare_and_set rest before others then
        begin match f x with
        | () -> ()
        | exception e ->
            let backtrace = Printexc.get_raw_backtrace () in
            give_up rest;
            Printexc.raise_with_backtrace e backtrace
        end;
      work rest f

(* Also where the others cannot be cancelled. *)
and give_up rest = Atomic.set rest []

let iter_some ~tasks f xs =
  let rest = Atomic.make xs in
  let task () = work rest f in
  Scope.run (fun scope ->
      for _ = 2 to tasks do
        Scope.fork scope task
      done;
      task ())

let rec iter_all scope f = function
  | [] -> ()
  | [ x ] -> f x
  | x :: rest ->
      Scope.fork scope (fun () -> f x);
      iter_all scope f rest

let iter_as name ?(max_tasks = max_int) f xs =
  if max_tasks < 1 then invalid_arg (name ^ ": max_tasks < 1");
  if List.compare_length_with xs max_tasks > 0 then
    iter_some ~tasks:max_tasks f xs
  else Scope.run (fun scope -> iter_all scope f xs)

let iter ?max_tasks f xs = iter_as "Tasks.iter" ?max_tasks f xs

let map ?max_tasks f xs =
  let cells = List.map (fun x -> (x, ref None)) xs in
  iter_as "Tasks.map" ?max_tasks (fun (x, cell) -> cell := Some (f x)) cells;
  List.map (fun (_, cell) -> Option.get !cell) cells
