open Case
open Concord.Tools
module Pool = Domainslib.Task

(* Measures the steps of the slides' program. It installs a handler (a). The computation begins
   on a stack of its own (b) and performs an effect. The handler (c) continues the computation,
   which then returns (d), and the handler returns too (e). *)

type _ Effect.t += E : unit Effect.t
type step = A_b | B_c | C_d | D_e

(* The time that one of the steps takes. *)
type watch = { step : step; mutable since : Meter.instant; mutable ns : float }

let watch step = { step; since = Meter.now (); ns = 0. }

let[@inline never] enter watch step =
  if watch.step == step then watch.since <- Meter.now ()

let[@inline never] leave watch step =
  if watch.step == step then watch.ns <- watch.ns +. Meter.ns_since watch.since

(* --- The effect alone -------------------------------------------------------- *)

(* A step is shorter than a reading of the clock. So handlers are nested: the computation of
   each handler installs the next handler, and each handler performs the effect again. This
   takes each step many times in a row. *)
let nested = 64

let effect_alone step n =
  let open Effect.Deep in
  let watch = watch step in
  let outermost (type a) (eff : a Effect.t) =
    match eff with
    | E ->
        Some
          (fun (k : (a, unit) continuation) ->
            leave watch B_c;
            enter watch C_d;
            continue k ())
    | _ -> None
  and inner (type a) (eff : a Effect.t) =
    match eff with
    | E ->
        Some
          (fun (k : (a, unit) continuation) ->
            Effect.perform E;
            continue k ())
    | _ -> None
  in
  let rec within handlers =
    if handlers > 0 then try_with within (handlers - 1) { effc = inner }
    else begin
      leave watch A_b;
      enter watch B_c;
      Effect.perform E;
      leave watch C_d;
      enter watch D_e
    end
  in
  let times = 1 + (n / nested) in
  for _ = 1 to times do
    enter watch A_b;
    try_with within (nested - 1) { effc = outermost };
    leave watch D_e
  done;
  watch.ns *. float_of_int n /. float_of_int (times * nested)

(* --- The same steps of a task ------------------------------------------------ *)

(* A host's work between two steps can't be repeated in a row. So each step is measured by
   itself, and the time of reading the clock is subtracted. With few samples the result could
   be negative, so it has a lower limit. *)
let least_ns = 0.01

let watched step work n =
  let idle = watch step and watch = watch step in
  for _ = 1 to n do
    enter idle step;
    leave idle step
  done;
  work watch n;
  Float.max (least_ns *. float_of_int n) (watch.ns -. idle.ns)

type fork = (unit -> unit) -> unit -> unit
(** [fork f] starts a task, and returns a function that waits for its end. *)

let run_fifo work =
  let fork f =
    let task = Concord_fifo.fork f in
    fun () -> Concord_fifo.join task
  in
  Concord_fifo.run (fun () -> work fork)

let run_eio work =
  let run sw =
    let fork f =
      let ended = Eio.Fiber.fork_promise ~sw f in
      fun () -> Eio.Promise.await_exn ended
    in
    work fork
  in
  Eio_main.run (fun _ -> Eio.Switch.run run)

let run_domainslib work =
  let pool = Pool.setup_pool ~num_domains:0 () in
  let fork f =
    let ended = Pool.async pool f in
    fun () -> Pool.await pool ended
  in
  Fun.protect
    ~finally:(fun () -> Pool.teardown_pool pool)
    (fun () -> Pool.run pool (fun () -> work fork))

let begin_and_end run watch n =
  let task () =
    leave watch A_b;
    enter watch D_e
  in
  run (fun (fork : fork) ->
      for _ = 1 to n do
        enter watch A_b;
        let join = fork task in
        join ();
        leave watch D_e
      done)

(* Two tasks suspend in turns, and each resumes the other one when it does. So the host always
   has one task to suspend and another one to continue. (A task can't resume itself, because a
   pool would not suspend a task that has been resumed already.) *)
let suspend_in_turns run watch n =
  let other = ref (fun (_ : (unit, exn) result) -> false) in
  let resume resumer =
    enter watch C_d;
    ignore (resumer (Ok ()) : bool)
  in
  let block resumer =
    leave watch B_c;
    let before = !other in
    other := resumer;
    resume before;
    None
  in
  let task () =
    for _ = 1 to n / 2 do
      enter watch B_c;
      Suspend.suspend block;
      leave watch C_d
    done;
    resume !other
  in
  run (fun (fork : fork) ->
      let join = fork task in
      task ();
      join ())

(* --- Handlers in between ------------------------------------------------------ *)

(* These handlers handle another effect, which is never performed. *)
type _ Effect.t += Another : unit Effect.t [@@warning "-unused-extension"]

let rec below handlers f =
  let open Effect.Deep in
  let effc (type a) (eff : a Effect.t) =
    match eff with
    | Another -> Some (fun (k : (a, _) continuation) -> continue k ())
    | _ -> None
  in
  if handlers = 0 then f () else try_with (below (handlers - 1)) f { effc }

let perform_below handlers n =
  let open Effect.Deep in
  let effc (type a) (eff : a Effect.t) =
    match eff with
    | E -> Some (fun (k : (a, _) continuation) -> continue k ())
    | _ -> None
  in
  let work () =
    let start = Meter.now () in
    for _ = 1 to n do
      Effect.perform E
    done;
    Meter.ns_since start
  in
  try_with (below handlers) work { effc }

let suspend_below handlers (run : (fork -> unit) -> unit) n =
  let other = ref (fun (_ : (unit, exn) result) -> false) in
  let block resumer =
    let before = !other in
    other := resumer;
    ignore (before (Ok ()) : bool);
    None
  in
  let task () =
    for _ = 1 to n / 2 do
      Suspend.suspend block
    done;
    ignore (!other (Ok ()) : bool)
  in
  let ns = ref 0. in
  run (fun fork ->
      let join = fork (fun () -> below handlers task) in
      below handlers (fun () ->
          let start = Meter.now () in
          task ();
          ns := Meter.ns_since start);
      join ());
  !ns

(* --- The group ---------------------------------------------------------------- *)

let hosts =
  [ ("fifo", run_fifo); ("eio", run_eio); ("domainslib", run_domainslib) ]

(* The tasks of other hosts use nothing of Concord. *)
let forking ~case step =
  List.map
    (fun (host, run) ->
      let impl = if host = "fifo" then "concord" else host in
      row ~case ~impl ~host (Time (watched step (begin_and_end run))))
    hosts

let suspending ~case step =
  List.map
    (fun (host, run) ->
      row ~case ~impl:"concord" ~host
        (Time (watched step (suspend_in_turns run))))
    hosts

let alone ~case step =
  row ~case ~impl:"stdlib" ~host:"stdlib" (Time (effect_alone step))

let of_step (case, step, rows) = alone ~case step :: rows ~case step

(* All steps are in one comparison, because they are compared with one another. *)
let steps =
  let rows =
    List.concat_map of_step
      [
        ("a-b", A_b, forking);
        ("b-c", B_c, suspending);
        ("c-d", C_d, suspending);
        ("d-e", D_e, forking);
      ]
  in
  {
    title =
      "the steps of an effect, and of a task; a-b: a stack is made and the \
       computation begins, a task is forked and begins; b-c: an effect is \
       performed and handled, a task suspends, to the call of its block; c-d: \
       it is continued, a task is resumed, to where it goes on, the next in \
       the queue; d-e: it returns and its stack is freed, a task ends, to \
       where the one that joins it goes on; 1 domain";
    baseline = List.hd rows;
    others = List.tl rows;
  }

let through handlers =
  let case = Printf.sprintf "through-%d" handlers in
  {
    title =
      Printf.sprintf
        "b to d, performed and continued, suspended and resumed; handlers of \
         another effect in between: %d; 1 domain"
        handlers;
    baseline =
      row ~case ~impl:"stdlib" ~host:"stdlib" (Time (perform_below handlers));
    others =
      List.map
        (fun (host, run) ->
          row ~case ~impl:"concord" ~host (Time (suspend_below handlers run)))
        hosts;
  }

let group =
  {
    name = "effect";
    doc = "the steps of an effect, alone and as a suspension";
    comparisons = beside [ steps ] @ List.map through [ 1; 2; 4; 8; 16; 32; 64 ];
  }
