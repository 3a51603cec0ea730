open Case

(* Measures the time from putting a value until the waiting task continues, and how long a turn
   of the other tasks takes meanwhile. The results are percentiles instead of means. *)

(* --- Samples ------------------------------------------------------------------ *)

let most = 1_000_000

type samples = { values : Float.Array.t; mutable length : int }

let samples () = { values = Float.Array.create most; length = 0 }
let is_full t = t.length = most

let add t ns =
  if not (is_full t) then begin
    Float.Array.set t.values t.length ns;
    t.length <- t.length + 1
  end

let fractions = [ ("p50", 0.5); ("p99", 0.99); ("p99.9", 0.999) ]

let answers t =
  if t.length = 0 then failwith "no value arrived during the sample";
  let sorted = Float.Array.sub t.values 0 t.length in
  Float.Array.sort Float.compare sorted;
  List.map
    (fun (_, fraction) ->
      let nth = int_of_float (fraction *. float_of_int (t.length - 1)) in
      Float.Array.get sorted nth)
    fractions

(* --- The two sides ---------------------------------------------------------------- *)

let receive take samples ~seen =
  let rec next () =
    match take () with
    | None -> ()
    | Some sent ->
        add samples (Meter.ns_since sent);
        seen ();
        next ()
  in
  next ()

(* The number of other tasks in the receiver's loop. *)
let busy_tasks = 10
let busy_turn = 10_000

let work () =
  for i = 1 to busy_turn do
    ignore (Sys.opaque_identity i : int)
  done

let busy running yield () =
  while !running do
    work ();
    yield ()
  done

let is_over start ~seconds = Meter.ns_since start > seconds *. 1e9

(* --- On one domain ----------------------------------------------------------------- *)

(* The time at which the value was put, or [None] after the last one. *)
type value = Meter.instant option
type box = { put : value -> unit; take : unit -> value }

let box_concord () =
  let box = Concord.Mvar.create_empty () in
  {
    put = (fun sent -> Concord.Mvar.put box sent);
    take = (fun () -> Concord.Mvar.take box);
  }

let box_eio () =
  let stream = Eio.Stream.create 1 in
  {
    put = (fun sent -> Eio.Stream.add stream sent);
    take = (fun () -> Eio.Stream.take stream);
  }

let on_one (host : Host.t) yield box ~load seconds =
  let there = box () and back = box () and samples = samples () in
  let running = ref true in
  host.run (fun fork ->
      fork (fun () ->
          receive there.take samples ~seen:(fun () -> back.put None));
      for _ = 1 to load do
        fork (busy running yield)
      done;
      let start = Meter.now () in
      while not (is_over start ~seconds || is_full samples) do
        there.put (Some (Meter.now ()));
        ignore (back.take () : value)
      done;
      there.put None;
      running := false);
  answers samples

let run_lwt start_all =
  let running = ref true in
  Lwt_main.run (start_all running)

let rec busy_lwt running () =
  if !running then begin
    work ();
    Lwt.bind (Lwt.pause ()) (busy_lwt running)
  end
  else Lwt.return_unit

let rec receive_lwt take samples ~seen =
  Lwt.bind (take ()) (function
    | None -> Lwt.return_unit
    | Some sent ->
        add samples (Meter.ns_since sent);
        Lwt.bind (seen ()) (fun () -> receive_lwt take samples ~seen))

let on_one_lwt ~load seconds =
  let open Lwt.Syntax in
  let open Concord_lwt in
  let there = Mvar.create_empty () and back = Mvar.create_empty () in
  let samples = samples () in
  run_lwt (fun running ->
      let take () = Mvar.take there and seen () = Mvar.put back () in
      let receiver = receive_lwt take samples ~seen in
      let others = List.init load (fun _ -> busy_lwt running ()) in
      let start = Meter.now () in
      let rec send () =
        if is_over start ~seconds || is_full samples then Mvar.put there None
        else
          let* () = Mvar.put there (Some (Meter.now ())) in
          let* () = Mvar.take back in
          send ()
      in
      let* () = send () in
      running := false;
      Lwt.join (receiver :: others));
  answers samples

(* --- Between two domains -------------------------------------------------------------- *)

(* In seconds. After this pause, a loop that has nothing to do is asleep. *)
let pause_s = 50e-6

(* The sender has no scheduler, so it checks now and then whether its value has arrived. *)
let sender put seen seconds () =
  let start = Meter.now () and sent = ref 0 in
  while not (is_over start ~seconds) do
    Unix.sleepf pause_s;
    if Atomic.get seen = !sent then begin
      incr sent;
      put (Some (Meter.now ()))
    end
  done;
  while Atomic.get seen < !sent do
    Unix.sleepf pause_s
  done;
  put None

let between (host : Host.t) yield box ~load seconds =
  let there = box () and samples = samples () and seen = Atomic.make 0 in
  let running = ref true in
  let other = Domain.spawn (sender there.put seen seconds) in
  host.run (fun fork ->
      for _ = 1 to load do
        fork (busy running yield)
      done;
      receive there.take samples ~seen:(fun () -> Atomic.incr seen);
      running := false);
  Domain.join other;
  answers samples

let between_lwt ~load seconds =
  let box = Concord.Mvar.create_empty () and seen = Atomic.make 0 in
  let samples = samples () in
  let other = Domain.spawn (sender (Concord.Mvar.put box) seen seconds) in
  run_lwt (fun running ->
      let others = List.init load (fun _ -> busy_lwt running ()) in
      let seen () =
        Atomic.incr seen;
        Lwt.return_unit
      in
      let take () = Concord_lwt.Mvar.take box in
      Lwt.bind (receive_lwt take samples ~seen) (fun () ->
          running := false;
          Lwt.join others));
  Domain.join other;
  answers samples

(* --- The others' turns ------------------------------------------------------------------ *)

(* A fiber of the loop yields all the time, and the samples are the times between its turns. If
   there is a [box], another fiber waits for values from another domain meanwhile. *)
let turns box seconds =
  let samples = samples () and running = ref true in
  let tick () =
    let last = ref (Meter.now ()) in
    while !running do
      Eio.Fiber.yield ();
      add samples (Meter.ns_since !last);
      last := Meter.now ()
    done
  in
  let wait_for fork box =
    let there = box () and seen = Atomic.make 0 in
    let other = Domain.spawn (sender there.put seen seconds) in
    (* Starting the domain is not measured. *)
    fork tick;
    let ignored = { values = Float.Array.create 0; length = most } in
    receive there.take ignored ~seen:(fun () -> Atomic.incr seen);
    Domain.join other
  in
  Host.eio.run (fun fork ->
      (match box with
      | Some box -> wait_for fork box
      | None ->
          fork tick;
          Eio_unix.sleep seconds);
      running := false);
  answers samples

(* --- The group ------------------------------------------------------------------------------ *)

let ms = { full = 1_000; quick = 200; least = 20 }

let spread ~name ~title rows =
  let comparison nth fraction =
    let case = name ^ "-" ^ fraction in
    let row (impl, host, run) =
      let run ~crowd:_ ~seconds ~rate:_ = run seconds in
      let rate () = infinity in
      row ~case ~impl ~host
        (Load { figure = Figure.ns; nth; name; ms; rate; run })
    in
    match List.map row rows with
    | baseline :: others ->
        { title = fraction ^ " of " ^ title; baseline; others }
    | [] -> invalid_arg "Bench_latency.spread: no row"
  in
  List.mapi comparison (List.map fst fractions)

(* A host without a scheduler has no other tasks. *)
let wake ~name ~title ~load ?(hosts = []) one lwt =
  let ours (host, on, yield) =
    ("concord", host, one on yield box_concord ~load)
  in
  let hosts =
    [
      ("fifo", Host.fifo, Concord_fifo.yield); ("eio", Host.eio, Eio.Fiber.yield);
    ]
    @ hosts
  in
  spread ~name ~title
    (("eio", "eio", one Host.eio Eio.Fiber.yield box_eio ~load)
     :: List.map ours hosts
    @ [ ("concord", "lwt", lwt ~load) ])

let group =
  let from_put = "the time from putting a value to going on with it, " in
  let busy = Printf.sprintf ", beside %d busy tasks of the loop" busy_tasks in
  {
    name = "latency";
    doc = "how long a wake-up takes, at its median and at its worst";
    comparisons =
      List.concat
        [
          wake ~name:"wake" ~load:0 on_one on_one_lwt
            ~title:(from_put ^ "1 domain");
          wake ~name:"wake-busy" ~load:busy_tasks on_one on_one_lwt
            ~title:(from_put ^ "1 domain" ^ busy);
          wake ~name:"wake-parallel" ~load:0 between between_lwt
            ~hosts:[ ("domain", Host.domain, ignore) ]
            ~title:(from_put ^ "from another domain");
          wake ~name:"wake-parallel-busy" ~load:busy_tasks between between_lwt
            ~title:(from_put ^ "from another domain" ^ busy);
          spread ~name:"turn"
            ~title:
              "the time of a fiber of Eio from one of its turns to the next, \
               while another one waits for values of another domain (none: \
               while none does)"
            [
              ("none", "eio", turns None);
              ("eio", "eio", turns (Some box_eio));
              ("concord", "eio", turns (Some box_concord));
            ];
        ];
  }
