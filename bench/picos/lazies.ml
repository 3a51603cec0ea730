open Concord_bench
open Case
open Picos_std_structured
open Picos_std_sync
open Host_picos

let read lazies rounds =
  let open Lazy in
  let sum = ref 0 in
  for _ = 1 to rounds do
    let { Bench_lazy.a; b; c; d; e; f; g; h } = Sys.opaque_identity lazies in
    sum := !sum + force a + force b + force c + force d;
    sum := !sum + force e + force f + force g + force h
  done;
  !sum

let first n =
  let sum = ref 0 in
  for i = 1 to n do
    let l = Lazy.from_fun (fun () -> Sys.opaque_identity i) in
    sum := !sum + Lazy.force (Sys.opaque_identity l)
  done;
  !sum

let operations =
  {
    Bench_lazy_wait.from_fun = Lazy.from_fun;
    force = Lazy.force;
    waiters = (fun _ -> None);
  }

let waiting tasks =
  let wait = Bench_lazy_wait.wait host operations ~yield:Control.yield in
  picos (Printf.sprintf "wait-%d" tasks) (Crowd (tasks, wait))

(* Needs [run], because the first forcing asks for the current fiber. *)
let eight () = run (fun () -> Bench_lazy.eight Lazy.from_fun Lazy.force)

module Chain =
  Bench_lazy_parallel.Chain
    (Lazy)
    (struct
      type t = { box : int Messages.box; received : Semaphore.Binary.t }

      let create () =
        { box = Messages.box 0; received = Semaphore.Binary.make false }

      let send t i =
        Messages.put t.box i;
        Semaphore.Binary.acquire t.received

      let receive t =
        let i = Messages.take t.box in
        Semaphore.Binary.release t.received;
        i
    end)

let rows =
  [
    picos "forced" (Time (Bench_lazy.forced_time host read eight));
    picos "first-force" (Time (Bench_lazy.first_time host first));
    picos "lazy-parallel" (Time (Chain.pass (Host.parallel host)));
    waiting 1_000;
    waiting 10_000;
    waiting 100_000;
  ]
