open Case

(* --- Hosts ---------------------------------------------------------------- *)

type host = {
  name : string;
  run : (((unit -> unit) -> unit -> unit) -> unit) -> unit;
      (** [run f] is [f fork]. [fork g] runs [g] in a task, and returns a
          function that cancels this task. *)
  yield : unit -> unit;
  box : unit -> (int -> unit) * (unit -> int);
      (** Makes a new box. Returns functions that put into it and take from it.
      *)
}

let mvar () =
  let box = Concord.Mvar.create_empty () in
  (Concord.Mvar.put box, fun () -> Concord.Mvar.take box)

let eio_stream () =
  let box = Eio.Stream.create 1 in
  (Eio.Stream.add box, fun () -> Eio.Stream.take box)

let fifo name cancellation =
  let fork f =
    let task = Concord_fifo.fork f in
    fun () -> Concord_fifo.cancel task
  in
  {
    name;
    run = (fun f -> Concord_fifo.run ~cancellation (fun () -> f fork));
    yield = Concord_fifo.yield;
    box = mvar;
  }

(* Eio can't cancel a fiber from outside, but each fiber can make a context. *)
let eio name box =
  let fork sw f =
    let context = ref None in
    Eio.Fiber.fork ~sw (fun () ->
        try
          Eio.Cancel.sub (fun cancel ->
              context := Some cancel;
              f ())
        with Eio.Cancel.Cancelled _ -> ());
    fun () -> Eio.Cancel.cancel (Option.get !context) Exit
  in
  let run f = Eio_main.run (fun _ -> Eio.Switch.run (fun sw -> f (fork sw))) in
  { name; run; yield = Eio.Fiber.yield; box }

(* --- One side, which has the producers or the consumers -------------------- *)

(* All tasks of a side run on one domain, so plain fields are enough. *)
type side = {
  tasks : int;
  victims : int;
  items : int;
  cancel : (unit -> unit) array;  (** Cancels each task. *)
  mutable claimed : int;
  mutable passed : int;
  mutable sum : int;  (** The sum of the items that passed. *)
  mutable cancelled : int;
  mutable unwound : int;
  mutable late : int;  (** How often a task waited for a cancelled one. *)
  mutable ended : int;
  mutable ns : float;
}

let side ~tasks ~victims ~items =
  {
    tasks;
    victims;
    items;
    cancel = Array.make tasks ignore;
    claimed = 0;
    passed = 0;
    sum = 0;
    cancelled = 0;
    unwound = 0;
    late = 0;
    ended = 0;
    ns = 0.;
  }

(* The cancelled tasks are spread evenly over all tasks. They are cancelled during the first
   half of the work. *)
let[@inline] cancel_if_due side =
  if
    side.cancelled < side.victims
    && side.passed * 2 * side.victims >= (side.cancelled + 1) * side.items
  then begin
    let victim = side.cancelled * side.tasks / side.victims in
    side.cancelled <- side.cancelled + 1;
    side.cancel.(victim) ()
  end

(* The original benchmark never unwinds the tasks that it cancels. In one variant it cancels
   none, and its scheduler spins. Here a cancelled task counts once it has been unwound.

   A task claims an item before it waits to put or take it. If it is cancelled, it gives the
   item back. So the other tasks do all of the work, and none of them may end before the last
   cancelled task has given back its item. If one had to wait for that, the waiting would be
   measured as a cost of cancellation, so [check_side] requires that none has waited.

   A task yields after each item. Otherwise the few tasks that run first would find an item
   whenever they ask, and would pass most of them, while the others have not even begun. *)
let rec work host side operate =
  if side.claimed < side.items then begin
    side.claimed <- side.claimed + 1;
    match operate side.claimed with
    | item ->
        side.passed <- side.passed + 1;
        side.sum <- side.sum + item;
        cancel_if_due side;
        host.yield ();
        work host side operate
    | exception e ->
        side.claimed <- side.claimed - 1;
        raise_notrace e
  end
  else if side.unwound < side.cancelled then begin
    side.late <- side.late + 1;
    host.yield ();
    work host side operate
  end

let task host side gate operate start () =
  Concord.Promise.await gate;
  (match work host side operate with
  | () -> ()
  | exception (Concord_fifo.Cancelled | Eio.Cancel.Cancelled _) ->
      side.unwound <- side.unwound + 1);
  side.ended <- side.ended + 1;
  if side.ended = side.tasks then side.ns <- Meter.ns_since !start

(* Tasks that are made one after the other have their stacks in that order in memory. If all of
   them run in that order, memory is read from one end to the other, which makes the run a
   fifth faster. The effect is smaller if some tasks are missing. So the tasks run in a random
   order, like those of a program that has been running for a while. One comparison keeps the
   first order, to show the difference. *)
let in_random_order n =
  let order = Array.init n Fun.id in
  let random = Random.State.make [| n |] in
  for i = n - 1 downto 1 do
    let j = Random.State.int random (i + 1) in
    let swapped = order.(i) in
    order.(i) <- order.(j);
    order.(j) <- swapped
  done;
  order

(* Reads the clock when the tasks of both sides are there, and again when the last task of this
   side has ended. *)
let run_side host meet order side operate =
  let gates = Array.init side.tasks (fun _ -> Concord.Promise.create ())
  and order = order side.tasks
  and start = ref (Meter.now ()) in
  host.run (fun fork ->
      for i = 0 to side.tasks - 1 do
        side.cancel.(i) <- fork (task host side gates.(i) operate start)
      done;
      (* A full collection first, because the work of the collector for the tasks must not be
         measured. *)
      Gc.full_major ();
      meet ();
      start := Meter.now ();
      Array.iter (fun i -> Concord.Promise.fill gates.(i) ()) order)

let meeting parties =
  let there = Atomic.make 0 in
  fun () ->
    Atomic.incr there;
    while Atomic.get there < parties do
      Domain.cpu_relax ()
    done

let check_side side =
  Host.check "items" side.items side.passed;
  Host.check "tasks that were cancelled" side.victims side.cancelled;
  Host.check "tasks that were unwound" side.victims side.unwound;
  Host.check "tasks that ended" side.tasks side.ended;
  Host.check "waits for a cancelled task" 0 side.late

type part = Cancelled of int | Absent of int  (** In percent of the tasks. *)

(* If a side has only one task, that task does all the work, so it is never cancelled. *)
let new_side tasks part n =
  let share percent = if tasks = 1 then 0 else tasks * percent / 100 in
  match part with
  | Cancelled percent -> side ~tasks ~victims:(share percent) ~items:n
  | Absent percent -> side ~tasks:(tasks - share percent) ~victims:0 ~items:n

let run host order ~producers ~consumers part n =
  let side tasks = new_side tasks part n in
  let producers = side producers and consumers = side consumers in
  let put, take = host.box () and meet = meeting 2 in
  let put i =
    put i;
    i
  and take _ = take () in
  let other = Domain.spawn (fun () -> run_side host meet order producers put) in
  run_side host meet order consumers take;
  Domain.join other;
  check_side producers;
  check_side consumers;
  Host.check "sum of the items" producers.sum consumers.sum;
  Float.max producers.ns consumers.ns

(* --- The figure ----------------------------------------------------------- *)

let items = { full = 50_000; quick = 10_000; least = 1_000 }

(* The same ratio of tasks to items as in the paper. *)
let tasks n = n / 5

type variant = {
  abbreviation : string;
  who : string;
  shares : int -> int * int;  (** Takes the number of tasks. *)
}

let spmc =
  {
    abbreviation = "spmc";
    who = "1 producer, 10,000 consumers";
    shares = (fun tasks -> (1, tasks));
  }

let mpsc =
  {
    abbreviation = "mpsc";
    who = "10,000 producers, 1 consumer";
    shares = (fun tasks -> (tasks, 1));
  }

let mpmc =
  {
    abbreviation = "mpmc";
    who = "5,000 producers, 5,000 consumers";
    shares = (fun tasks -> (tasks / 2, tasks / 2));
  }

let the_paper's = [ Cancelled 10; Cancelled 20; Cancelled 30; Absent 30 ]

let comparison ?(order = in_random_order) ?(remark = "") ?(parts = the_paper's)
    host { abbreviation; who; shares } =
  let case = abbreviation ^ remark ^ "-" ^ host.name in
  let time part n =
    let producers, consumers = shares (tasks n) in
    run host order ~producers ~consumers part n
  in
  let row part =
    let impl =
      match part with
      | Cancelled percent -> Printf.sprintf "%d%%" percent
      | Absent percent -> Printf.sprintf "%d%%-absent" percent
    in
    row ~case ~impl ~host:host.name
      (counted Figure.ns items (warmed_up (time part)))
  in
  {
    title =
      Printf.sprintf
        "one of 50,000 items (with --quick a fifth of all) from a domain with \
         the producers to one with the consumers (%s), while a part of the \
         tasks is cancelled and unwound (absent: were not there)"
        who;
    baseline = row (Cancelled 0);
    others = List.map row parts;
  }

let group =
  let eager = fifo "fifo" `Eager and is_lazy = fifo "fifo-lazy" `Lazy in
  let of_host ?parts host =
    List.map
      (fun variant -> comparison ?parts host variant)
      [ spmc; mpsc; mpmc ]
  in
  let in_order n = Array.init n Fun.id in
  {
    name = "cancel-cost";
    doc = "what it costs to cancel a part of 10,000 tasks at work";
    comparisons =
      List.concat
        [
          of_host eager;
          of_host is_lazy;
          of_host (eio "eio" mvar);
          of_host ~parts:[ Cancelled 30 ] (eio "eio-stream" eio_stream);
          [ comparison ~order:in_order ~remark:"-in-order" eager spmc ];
        ];
  }
