open Concord_bench
open Case
open Async

(* Like [Host.lwt_times], this allocates no closure for each round. *)
let times n f =
  let left = ref n in
  let rec loop () =
    if !left = 0 then return ()
    else (
      decr left;
      Deferred.bind (f ()) ~f:loop)
  in
  loop ()

(* [Host.serial] in Async. *)
let serial ~put ~take n =
  let produce () =
    let last = ref 0 in
    times n (fun () ->
        incr last;
        put !last)
  and consume () =
    let sum = ref 0 in
    let add i = sum := !sum + i in
    Deferred.map
      (times n (fun () -> Deferred.map (take ()) ~f:add))
      ~f:(fun () -> !sum)
  in
  Thread_safe.block_on_async_exn (fun () ->
      let start = Meter.now () in
      let producer = produce () in
      consume () >>= fun sum ->
      let ns = Meter.ns_since start in
      producer >>| fun () ->
      Host.check_sum n sum;
      ns)

let mvar n =
  let box = Mvar.create () in
  serial ~put:(Mvar.put box) ~take:(fun () -> Mvar.take box) n

let mvar_concord n =
  let open Concord_async in
  let box = Mvar.create_empty () in
  serial ~put:(Mvar.put box) ~take:(fun () -> Mvar.take box) n

(* A pipe's writer waits while the pipe holds more messages than its budget. So the pipe holds
   one message more, which belongs to the waiting writer. A stream's producer waits with a
   message too. *)
let pipe size_budget n =
  let reader, writer = Pipe.create ~size_budget () in
  serial ~put:(Pipe.write writer) ~take:(fun () -> Pipe.read_exn reader) n

let stream_concord capacity n =
  let stream = Concord.Stream.create capacity in
  let open Concord_async in
  serial ~put:(Stream.add stream) ~take:(fun () -> Stream.take stream) n

(* The task begins to await a fresh promise, and then fills it. *)
let fresh create await fill n =
  let wait () =
    let promise = create () in
    let awaited = await promise in
    fill promise ();
    awaited
  in
  Thread_safe.block_on_async_exn (fun () ->
      let start = Meter.now () in
      times n wait >>| fun () -> Meter.ns_since start)

let ivar = fresh Ivar.create Ivar.read Ivar.fill_exn

let promise =
  let create () = Concord.Promise.create () in
  fresh create Concord_async.Promise.await Concord.Promise.fill

(* Async's choice does not take the value. The task takes it after it has chosen. *)
let choose n =
  let box = Mvar.create () and empty = Mvar.create () in
  let chosen box = Deferred.choice (Mvar.value_available box) (fun () -> box) in
  let rec take () =
    Deferred.choose [ chosen box; chosen empty ] >>= fun box ->
    match Mvar.take_now box with Some v -> return v | None -> take ()
  in
  serial ~put:(Mvar.put box) ~take n

let select n =
  let open Concord_async in
  let box = Mvar.create_empty () and empty = Mvar.create_empty () in
  let take () = select Concord.Mvar.[ take_evt box; take_evt empty ] in
  serial ~put:(Mvar.put box) ~take n

let stream capacity =
  async (Printf.sprintf "stream%d-serial" capacity) (Time (pipe capacity))

let all =
  [
    ("mvar", [ async "serial" (Time mvar); async "table1-serial" (Time mvar) ]);
    ("structures", [ stream 1; stream 100; stream 10_000 ]);
    ( "async",
      List.concat_map
        (fun (case, own, concord) ->
          [
            async case (Time own);
            row ~program:Async ~case ~impl:"concord" ~host:"async"
              (Time concord);
          ])
        [
          ("serial", mvar, mvar_concord);
          ("pipe1-serial", pipe 1, stream_concord 1);
          ("pipe100-serial", pipe 100, stream_concord 100);
          ("pipe10000-serial", pipe 10_000, stream_concord 10_000);
          ("ivar", ivar, promise);
          ("choose", choose, select);
        ] );
  ]
