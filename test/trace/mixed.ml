(* Traced by the tests. Waits without a task, cancelled waits, and waits that never end. *)

open Concord

let given = Mvar.create_empty ()
let never : unit Mvar.t = Mvar.create_empty ()

let operations () =
  let open Concord_styles.Trampoline in
  let rec take n =
    if n = 0 then halt () else take_mvar given >>= fun () -> take (n - 1)
  in
  spawn (fun () -> take 10);
  spawn (fun () -> take 10);
  start ()

(* The first operation must wait. Later ones may find a value without waiting. *)
let give () =
  while Mvar.waiters given = 0 do
    Domain.cpu_relax ()
  done;
  for _ = 1 to 20 do
    Mvar.put given ()
  done

let cancelled () =
  Concord_fifo.run (fun () ->
      let waiting = Concord_fifo.fork (fun () -> Mvar.take never) in
      Concord_fifo.yield ();
      Concord_fifo.cancel waiting)

let () =
  let domain = Domain.spawn give in
  operations ();
  Domain.join domain;
  cancelled ();
  let latch = Latch.create 1 in
  ignore
    (Thread.create
       (fun () ->
         Latch.count_down latch;
         Mvar.take never)
       ()
      : Thread.t);
  Latch.await latch;
  ignore (Tasks.with_timeout 0.05 (fun () -> Mvar.take never) : unit option)
