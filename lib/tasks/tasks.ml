let yield = Suspend.yield
let protect = Suspend.protect
let is_cancelled = Suspend.is_cancelled
let cancellations : (exn -> bool) list Atomic.t = Atomic.make []
let cancels_by is = Atomically.update cancellations (List.cons is)

let is_cancellation = function
  | Fifo.Cancelled | Scope.Cancelled | Job.Cancelled -> true
  | e -> List.exists (fun is -> is e) (Atomic.get cancellations)

(* Afterwards, each cell has a value, because [Scope.run] raises unless all tasks have
   returned. *)
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

(* --- Tasks that are cancelled --------------------------------------------- *)

(* A value that is there has priority over a cancellation that comes later. But a failure is
   raised even then. *)
let conclude (outcome : unit Scope.outcome) result =
  match (outcome, Atomic.get result) with
  | Failed (e, backtrace), _ -> Printexc.raise_with_backtrace e backtrace
  | Raised (e, backtrace), None | Unwound (e, backtrace), None ->
      Printexc.raise_with_backtrace e backtrace
  | Raised (e, backtrace), Some v -> (
      match Scope.cause e backtrace with
      | Cancellation _ -> Some v
      | Failure (e, backtrace) -> Printexc.raise_with_backtrace e backtrace)
  | (Unwound _ | Returned () | Stopped), result -> result

(* [result], of one call of [any]

   State   Left by  To                By whom
   None    add      Some v            a task of the scope, which then cancels the scope
   Some v  add      Some (combine v)  a task that ends after that *)
let rec add combine result v =
  let before = Atomic.get result in
  let after = Option.fold before ~none:v ~some:(fun first -> combine first v) in
  if not (Atomic.compare_and_set result before (Some after)) then
    (* another task has ended on another domain *)
    add combine result v

let any ?(combine = fun first _ -> first) fs =
  if List.is_empty fs then invalid_arg "Tasks.any: the list is empty";
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

let sleep seconds =
  if Float.is_nan seconds then
    invalid_arg "Tasks.sleep: the time is not a number (nan)";
  Event.sync (Event.timeout seconds)

let with_timeout seconds f =
  if Float.is_nan seconds then
    invalid_arg "Tasks.with_timeout: the timeout is not a number (nan)";
  let result = Atomic.make None in
  let body ~expire =
    let stop = Timer.after seconds expire in
    match Atomic.set result (Some (f ())) with
    | () -> stop ()
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        stop ();
        Printexc.raise_with_backtrace e backtrace
  in
  conclude (Scope.run_expiring body) result

(* --- Deadlines --------------------------------------------------------------- *)

(* The key is created for the first deadline, because each key makes a fork cost more. It has the
   time in nanoseconds, by the clock of [Sleeper].

   State     Left by  To        By whom
   None      key      Some key  the first caller of [with_deadline] *)
let known : int Local.t option Atomic.t = Atomic.make None

let rec key () =
  match Atomic.get known with
  | Some key -> key
  | None ->
      let created = Some (Local.create ()) in
      ignore (Atomic.compare_and_set known None created : bool);
      key ()

let deadline () = Option.bind (Atomic.get known) Local.get
let left at = float_of_int (at - Sleeper.now_ns ()) *. 1e-9
let time_left () = Option.map (fun at -> Float.max 0. (left at)) (deadline ())

(* Seconds that don't fit into the clock are infinite. *)
let longest = 1e9

let with_deadline seconds f =
  if Float.is_nan seconds then
    invalid_arg "Tasks.with_deadline: the deadline is not a number (nan)";
  let own =
    if seconds > longest then None
    else Some (Sleeper.now_ns () + int_of_float (Float.max 0. seconds *. 1e9))
  in
  match (own, deadline ()) with
  | None, None -> with_timeout Float.infinity f
  | Some at, None | None, Some at ->
      with_timeout (left at) (fun () -> Local.with_binding (key ()) at f)
  | Some own, Some outer ->
      let at = Int.min own outer in
      with_timeout (left at) (fun () -> Local.with_binding (key ()) at f)

(* --- Until something happens ---------------------------------------------------- *)

let unless event f =
  let result = Atomic.make None
  and happened = Atomic.make None
  and returned = Promise.create () in
  let watch scope () =
    match
      Event.select
        [
          Event.wrap event Option.some;
          Event.wrap (Promise.await_evt returned) (fun () -> None);
        ]
    with
    | Some v ->
        Atomic.set happened (Some v);
        Scope.cancel scope
    | None -> ()
  in
  let body scope =
    Scope.fork scope (watch scope);
    Atomic.set result (Some (f ()));
    ignore (Promise.try_fill returned () : bool)
  in
  match conclude (Scope.run_to_end body) result with
  | Some v -> Ok v
  | None -> Error (Option.get (Atomic.get happened))

(* --- Several attempts ------------------------------------------------------------- *)

let check_not_negative name what seconds =
  if not (seconds >= 0.) then
    invalid_arg
      (Printf.sprintf "%s: %s must be at least 0, not %g" name what seconds)

(* The body starts the functions. A function that fails says so, and then the next one starts at
   once. The first one that returns cancels the scope, and the body with it. *)
let hedge ?(delay = Float.infinity) fs =
  if List.is_empty fs then invalid_arg "Tasks.hedge: the list is empty";
  check_not_negative "Tasks.hedge" "delay" delay;
  let result = Atomic.make None and failures = Mailbox.create () in
  let task scope f () =
    match f () with
    | v ->
        add (fun first _ -> first) result v;
        Scope.cancel scope
    | exception e -> (
        match Scope.cause e (Printexc.get_raw_backtrace ()) with
        | Cancellation (e, backtrace) ->
            Printexc.raise_with_backtrace e backtrace
        | Failure (e, backtrace) -> Mailbox.add failures (e, backtrace))
  in
  let rec start scope first_failure running = function
    | f :: rest ->
        Scope.fork scope (task scope f);
        wait scope first_failure (running + 1) rest
    | [] -> wait scope first_failure running []
  and wait scope first_failure running rest =
    let next =
      if List.is_empty rest then Some (Mailbox.take failures)
      else Event.sync_before delay (Mailbox.take_evt failures)
    in
    match (next, first_failure) with
    | None, _ -> start scope first_failure running rest
    | Some (e, backtrace), _ when running = 1 && List.is_empty rest ->
        let e, backtrace = Option.value first_failure ~default:(e, backtrace) in
        Printexc.raise_with_backtrace e backtrace
    | Some failure, None -> start scope (Some failure) (running - 1) rest
    | Some _, Some _ -> start scope first_failure (running - 1) rest
  in
  let outcome = Scope.run_to_end (fun scope -> start scope None 0 fs) in
  Option.get (conclude outcome result)

(* Between a half and the whole of the time, so that callers that failed together don't come again
   together. *)
let jittered seconds =
  let parts = 1_000_000 in
  let part = Shuffle.below parts (Shuffle.fraction ()) in
  seconds *. (0.5 +. (0.5 *. float_of_int part /. float_of_int parts))

let retry ?(attempts = 5) ?(delay = 0.1) ?(most = 10.) ?(on = fun _ -> true) f =
  if attempts < 1 then
    invalid_arg
      (Printf.sprintf "Tasks.retry: attempts must be at least 1, not %d"
         attempts);
  check_not_negative "Tasks.retry" "delay" delay;
  check_not_negative "Tasks.retry" "most" most;
  let rec attempt left delay =
    match f () with
    | v -> v
    | exception e -> (
        match Scope.cause e (Printexc.get_raw_backtrace ()) with
        | Cancellation (e, backtrace) ->
            Printexc.raise_with_backtrace e backtrace
        | Failure (e, backtrace) ->
            let seconds = jittered (Float.min delay most) in
            let is_late = Option.fold ~none:false ~some:(( > ) seconds) in
            if left = 1 || is_late (time_left ()) || not (on e) then
              Printexc.raise_with_backtrace e backtrace
            else begin
              sleep seconds;
              attempt (left - 1) (delay *. 2.)
            end)
  in
  attempt attempts delay

(* --- Lists ---------------------------------------------------------------- *)

(* [rest], the elements that no task has begun yet

   State    Left by  To  By whom
   x :: xs  next     xs  a task of the scope, which then calls [f x]
            task     []  a task that fails
   []       never (terminal) *)
let rec next rest =
  match Atomic.get rest with
  | [] -> None
  | x :: others as before ->
      if Atomic.compare_and_set rest before others then Some x
      else (* another task, on another domain, was faster *) next rest

(* If elements are left, the task first checks whether it was cancelled, because the previous
   [f x] may have ignored that, or not have waited. *)
let begin_next rest f =
  if not (List.is_empty (Atomic.get rest)) then Scope.check_cancelled ();
  match next rest with
  | Some x ->
      f x;
      true
  | None -> false

let rec begin_all rest f = if begin_next rest f then begin_all rest f

(* A task that fails removes the rest, because the other tasks can't always be cancelled. *)
let task rest work =
  try work ()
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    Atomic.set rest [];
    Printexc.raise_with_backtrace e backtrace

let iter_some ~tasks f xs =
  let rest = Atomic.make xs in
  let work () = task rest (fun () -> begin_all rest f) in
  Scope.run (fun scope ->
      for _ = 2 to tasks do
        Scope.fork scope work
      done;
      work ())

(* The time after which a burst of forks lets the host's other tasks run, in nanoseconds. *)
let longest_burst = 1_000_000

(* Runs each element in a task of its own. If a task begins while it is being forked, [fork]
   has just checked whether the scope was cancelled, so the task need not. The check is a
   suspension, and the garbage collector scans the stacks of all tasks that wait. *)
let iter_all f xs =
  let rest = Atomic.make xs and forked = ref 0 in
  let one n () =
    task rest @@ fun () ->
    if !forked = n then Option.iter f (next rest)
    else ignore (begin_next rest f : bool)
  in
  Scope.run (fun scope ->
      let begun = ref (Sleeper.now_ns ()) in
      for n = 1 to List.length xs - 1 do
        if Sleeper.now_ns () - !begun > longest_burst then begin
          Scope.check_cancelled ();
          begun := Sleeper.now_ns ()
        end;
        forked := n;
        Scope.fork scope (one n)
      done;
      forked := 0;
      one (-1) ())

let iter_as name ?(max_tasks = max_int) f xs =
  if max_tasks < 1 then
    invalid_arg
      (Printf.sprintf "%s: max_tasks is %d, but must be at least 1" name
         max_tasks);
  if List.compare_length_with xs max_tasks > 0 then
    iter_some ~tasks:max_tasks f xs
  else iter_all f xs

let iter ?max_tasks f xs = iter_as "Tasks.iter" ?max_tasks f xs

let map ?max_tasks f xs =
  let cells = List.map (fun x -> (x, ref None)) xs in
  iter_as "Tasks.map" ?max_tasks (fun (x, cell) -> cell := Some (f x)) cells;
  List.map (fun (_, cell) -> Option.get !cell) cells
