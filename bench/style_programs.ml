open Lwc

type size = { threads : int; operations : int }

(* A program, and the size of its problem [n]. *)
type program = { written : (module Program.WRITTEN); size : int -> size }

let check_result (module P : Program.WRITTEN) n found =
  if found <> P.sequential n then
    failwith "the result differs from that of the sequential program"

(* Reads the clock before the threads are spawned and after the last one has ended. *)
let time_of_run program style n =
  let (module P) = Program.in_style program.written style in
  let start = Meter.now () in
  let found = P.run (P.setup n) in
  let ns = Meter.ns_since start in
  check_result program.written n found;
  ns

let time_of_setup program style n =
  let (module P) = Program.in_style program.written style in
  let start = Meter.now () in
  ignore (P.setup n : P.network);
  let ns = Meter.ns_since start in
  P.forget ();
  ns

(* The time of [n] operations, in whole runs of a program of size [size]. *)
let whole_runs time program style ~size n =
  let { operations; _ } = program.size size in
  let rec go_on performed ns =
    if performed >= n then ns /. float_of_int performed *. float_of_int n
    else go_on (performed + operations) (ns +. time program style size)
  in
  go_on 0 0.

let fill_minor_heap () =
  for i = 1 to (Gc.get ()).minor_heap_size do
    ignore (Sys.opaque_identity (ref i) : int ref)
  done

let peak program work style n =
  let (module Empty) = Program.in_style (module Chain) style in
  let (module P) = Program.in_style program.written style in
  ignore (Empty.run (Empty.setup 0) : int array);
  fill_minor_heap ();
  Meter.reset_peak ();
  let before = Meter.peak_resident_bytes () in
  work (module P : Program.S) n;
  Meter.peak_resident_bytes () -. before

let resident program work ~largest style =
  Case.resident (fun things ->
      let n = largest things in
      let { threads; _ } = program.size n in
      peak program work style n /. float_of_int threads *. float_of_int things)

let run (module P : Program.S) n = ignore (P.run (P.setup n) : int array)

(* If few threads were spawned, they are still in the minor heap, so it is collected. *)
let set_up (module P : Program.S) n =
  ignore (P.setup n : P.network);
  Gc.minor ()

(* --- The programs --- *)

let kpn =
  { written = (module Kpn); size = (fun n -> { threads = 7; operations = n }) }

(* A number passes the filters up to that of its least prime factor. A prime passes all
   filters, the thread that adds a filter, and the last thread. *)
let messages n =
  let primes = Sieve.sequential n in
  let rec filters v i =
    if v mod primes.(i) = 0 then i + 1 else filters v (i + 1)
  in
  let rec sum v total =
    if v > primes.(n - 1) then total else sum (v + 1) (total + filters v 0)
  in
  sum 2 n

let sieve =
  {
    written = (module Sieve);
    size = (fun n -> { threads = n + 3; operations = messages n });
  }

let comparators n = n * (n - 1) / 2

(* The greatest number of numbers that have at most this many comparators. *)
let numbers ~comparators:most =
  let n = int_of_float (Float.sqrt (2. *. float_of_int most)) in
  if comparators (n + 1) <= most then n + 1 else n

let sorter =
  {
    written = (module Sorter);
    size =
      (fun n ->
        let threads = comparators n in
        { threads; operations = threads });
  }
