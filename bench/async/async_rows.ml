open Concord_bench
open Case
open Async

(* As [Host.lwt_times]: no closure for each. *)
let times n f =
  let left = ref n in
  let rec loop () =
    if !left = 0 then return ()
    else (
      decr left;
      Deferred.bind (f ()) ~f:loop)
  in
  loop ()

(* As [Host.serial], in Async. *)
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

(* A writer waits while the pipe holds more than its budget: with so many messages
   and one of its own, as the producer of a stream does. *)
let pipe size_budget n =
  let reader, writer = Pipe.create ~size_budget () in
  serial ~put:(Pipe.write writer) ~take:(fun () -> Pipe.read_exn reader) n

let stream capacity =
  async (Printf.sprintf "stream%d-serial" capacity) (Time (pipe capacity))

let all =
  [
    ("mvar", [ async "serial" (Time mvar); async "table1-serial" (Time mvar) ]);
    ("structures", [ stream 1; stream 100; stream 10_000 ]);
    ( "async",
      [
        async "serial" (Time mvar);
        row ~program:Async ~case:"serial" ~impl:"concord" ~host:"async"
          (Time mvar_concord);
      ] );
  ]
