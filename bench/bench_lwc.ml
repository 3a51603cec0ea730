open Case
open Lwc
open Style_programs

(* A case is named FIGURE-SIZE. With little effort, only the small sizes are measured. *)

type point = { size : int; times : amount }

let points small middle large =
  let point least quick size = { size; times = { full = 1; quick; least } } in
  [ point 1 1 small; point 0 1 middle; point 0 0 large ]

(* Only 10,855 of these numbers fit into an [int]. *)
let numbers_of_kpn = points 100 1_000 10_000
let primes = points 100 300 1_000
let to_sort = points 100 300 1_000

(* System threads are measured only at the first point, and only if [threads] is true, because
   they can't do more. *)
let curve ~figure ~title ?(threads = false) ~fibers points sample =
  List.concat_map
    (fun { size; times } ->
      let sample style =
        let figure, samples, measure = sample style in
        counted figure ~samples times (fun _ -> measure size)
      in
      let few = if threads && times.least > 0 then Some sample else None in
      Style_rows.both ?few ~fibers
        ~case:(Printf.sprintf "%s-%d" figure size)
        ~title:(Printf.sprintf title size)
        sample)
    points

let ms time program style =
  (Figure.ms, { full = 5; quick = 3; least = 1 }, time program style)

let times =
  let fibers = Style_rows.fibers in
  List.concat
    [
      curve ~fibers ~figure:"kpn" ~threads:true
        ~title:"Figure 10: a Kahn process network finds %d numbers"
        numbers_of_kpn (ms time_of_run kpn);
      curve ~fibers ~figure:"sieve" ~threads:true
        ~title:"Figure 11: a sieve finds %d primes" primes
        (ms time_of_run sieve);
      curve ~fibers ~figure:"sorter"
        ~title:"Figure 12: a network sorts %d numbers" to_sort
        (ms time_of_run sorter);
      curve ~fibers:[] ~figure:"sorter-d"
        ~title:"Figure 13: a network for %d numbers is set up" to_sort
        (ms time_of_setup sorter);
    ]

(* --- Memory --- *)

let bytes measure = (Figure.bytes, few, measure)

let per_thread (program : program) size bytes =
  let { threads; _ } = program.size size in
  bytes /. float_of_int threads

let resident program work style =
  bytes (fun size -> per_thread program size (peak program work style size))

(* The paper measures this too. The stacks of fibers are not in OCaml's heap. *)
let heap (program : program) work style =
  let (module P) = Program.in_style program.written style in
  bytes (fun size ->
      work (module P : Program.S) size;
      let { Gc.top_heap_words; _ } = Gc.quick_stat () in
      per_thread program size
        (float_of_int (top_heap_words * (Sys.word_size / 8))))

let memory ~figure ~title ~fibers points program work =
  curve ~figure:(figure ^ "-resident") ~fibers points (resident program work)
    ~title:(title ^^ ": resident bytes of a thread")
  @ curve ~figure:(figure ^ "-heap") ~fibers points (heap program work)
      ~title:
        (title
       ^^ ": bytes of the largest heap for each thread, without the stacks of \
           fibers")

let memories =
  let fibers = [ Style_rows.fifo ] in
  List.concat
    [
      memory ~figure:"sieve" ~title:"Figures 14 and 16: a sieve finds %d primes"
        ~fibers primes sieve run;
      memory ~figure:"sorter"
        ~title:"Figures 15 and 17: a network sorts %d numbers" ~fibers to_sort
        sorter run;
      memory ~figure:"sorter-d"
        ~title:"Figure 18: a network for %d numbers is set up" ~fibers:[]
        to_sort sorter set_up;
    ]

let group =
  {
    name = "lwc";
    doc = "the figures of \"Light Weight Concurrency in OCaml\", point by point";
    comparisons = times @ memories;
  }
