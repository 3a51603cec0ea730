open Case
open Lwc
open Style_rows
open Style_programs

(* Kpn *)

let kpn_cases =
  let sample style =
    Time (fun n -> whole_runs time_of_run kpn style ~size:(min n Kpn.max_n) n)
  in
  both ~few:sample sample ~fibers ~case:"kpn"
    ~title:"one number of a Kahn process network of 7 threads"

let kpn_bytes =
  let largest things = min things Kpn.max_n in
  both ~fibers ~case:"kpn-bytes"
    ~title:
      (Printf.sprintf
         "a thread of 7 of a Kahn process network, up to number %d; most is \
          what waits in the queues"
         Kpn.max_n)
    ~few:(resident kpn run ~largest)
    (resident kpn run ~largest)

(* Sieve *)

let sieve_sample primes style =
  Crowd
    (primes, fun ~tasks n -> whole_runs time_of_run sieve style ~size:tasks n)

let sieve_100 =
  let sample = sieve_sample 100 in
  both ~few:sample sample ~fibers ~case:"sieve-100"
    ~title:"one message in a sieve that finds 100 primes"

let sieve_1000 =
  natively ~fibers ~case:"sieve-1000"
    ~title:"one message in a sieve that finds 1000 primes" (sieve_sample 1_000)

let sieve_bytes =
  let largest most things = min (things / 40) most in
  both ~fibers ~case:"sieve-bytes"
    ~title:"a thread of a sieve that finds 300 primes (100 by system threads)"
    ~few:(resident sieve run ~largest:(largest 100))
    (resident sieve run ~largest:(largest 300))

(* Sorter *)

let sorter_sample time most style =
  Crowd
    ( comparators most,
      fun ~tasks n ->
        whole_runs time sorter style ~size:(numbers ~comparators:tasks) n )

let in_large_minor_heap time program style n =
  Gc.set { (Gc.get ()) with minor_heap_size = 32 * 1024 * 1024 };
  time program style n

let sorter_cases =
  both ~fibers ~case:"sorter-300"
    ~title:
      "one comparator of a sort of 300 numbers (40 by system threads); each is \
       a thread"
    ~few:(sorter_sample time_of_run 40)
    (sorter_sample time_of_run 300)
  @ [
      (* Eio is left out, because its fibers would need more memory than most machines have. *)
      natively ~fibers:[ fifo ] ~case:"sorter-3000"
        ~title:
          "one comparator of a sort of 3000 numbers, which has 4.5 million \
           threads (447 numbers with --quick)"
        (sorter_sample time_of_run 3_000);
    ]
  @ [
      natively ~fibers ~case:"sorter-300-young"
        ~title:
          "as sorter-300, with a minor heap of 256 MB: most of what the \
           collector does is left out"
        (sorter_sample (in_large_minor_heap time_of_run) 300);
    ]
  @ both ~fibers:[] ~case:"sorter-setup"
      ~title:"one thread of a sort of 300 numbers, spawned but not started"
      (sorter_sample time_of_setup 300)

let sorter_bytes =
  let largest most things =
    numbers ~comparators:(min things (comparators most))
  in
  both ~fibers ~case:"sorter-bytes"
    ~title:
      "a thread of a sort with a million threads (100,000 with --quick; 780 \
       system threads)"
    ~few:(resident sorter run ~largest:(largest 40))
    (resident sorter run ~largest:(largest 3_000))
  @ both ~fibers:[] ~case:"sorter-setup-bytes"
      ~title:"a thread of those, spawned but not started"
      (resident sorter set_up ~largest:(largest 3_000))

(* --- The operations of a thread ---------------------------------------------- *)

type work = {
  yields : threads:int -> int -> unit;
      (** The number of yields of all threads together. *)
  spawns : int -> unit;
}

let work = function
  | Style.Direct (module Lwc) ->
      let rec yields n =
        if n > 0 then begin
          Lwc.yield ();
          yields (n - 1)
        end
      in
      {
        yields =
          (fun ~threads n ->
            for _ = 1 to threads do
              Lwc.spawn (fun () -> yields (n / threads))
            done;
            Lwc.start ());
        spawns =
          (fun n ->
            for _ = 1 to n do
              Lwc.spawn ignore
            done;
            Lwc.start ());
      }
  | Trampolined (module Lwc) ->
      let open Lwc in
      let rec yields n () = if n > 0 then yield >>= yields (n - 1) in
      {
        yields =
          (fun ~threads n ->
            for _ = 1 to threads do
              spawn (yields (n / threads))
            done;
            start ());
        spawns =
          (fun n ->
            for _ = 1 to n do
              spawn ignore
            done;
            start ());
      }
  | Monadic (module Lwc) ->
      let open Lwc in
      let rec yields n () =
        if n > 0 then yield () >>= yields (n - 1) else skip
      in
      {
        yields =
          (fun ~threads n ->
            for _ = 1 to threads do
              spawn (yields (n / threads))
            done;
            start ());
        spawns =
          (fun n ->
            for _ = 1 to n do
              spawn (fun () -> skip)
            done;
            start ());
      }

let timed work =
  let start = Meter.now () in
  work ();
  Meter.ns_since start

(* The least number of yields of each thread. *)
let least = 4

let yield_sample threads style =
  let { yields; _ } = work style in
  Crowd
    ( threads,
      fun ~tasks n ->
        let all = max (n / tasks) least * tasks in
        timed (fun () -> yields ~threads:tasks all)
        *. float_of_int n /. float_of_int all )

let yield_100 =
  let sample = yield_sample 100 in
  both ~few:sample sample ~fibers ~case:"yield-100"
    ~title:"one yield, by 100 threads in turns"

let yield_100000 =
  natively ~fibers ~case:"yield-100000"
    ~title:"one yield, by 100000 threads in turns" (yield_sample 100_000)

let spawn =
  let sample style =
    let { spawns; _ } = work style in
    Time (fun n -> timed (fun () -> spawns n))
  in
  both ~fibers ~few:sample sample ~case:"spawn"
    ~title:"one thread that is spawned, begins and ends"

(* --- The private MVar -------------------------------------------------------- *)

module Direct_messages (Lwc : Private_mvar.Direct) = struct
  let pass n =
    let mvar = Lwc.make_mvar () and sum = ref 0 in
    Lwc.spawn (fun () ->
        for i = 1 to n do
          Lwc.put_mvar mvar i
        done);
    Lwc.spawn (fun () ->
        for _ = 1 to n do
          sum := !sum + Lwc.take_mvar mvar
        done);
    let ns = timed Lwc.start in
    Host.check_sum n !sum;
    ns
end

module Trampolined_messages (Lwc : Private_mvar.Trampolined) = struct
  let pass n =
    let mvar = Lwc.make_mvar () and sum = ref 0 in
    let rec put i () = if i <= n then Lwc.put_mvar mvar i (put (i + 1)) in
    let rec take i =
      if i <= n then
        Lwc.take_mvar mvar (fun v ->
            sum := !sum + v;
            take (i + 1))
    in
    Lwc.spawn (put 1);
    Lwc.spawn (fun () -> take 1);
    let ns = timed Lwc.start in
    Host.check_sum n !sum;
    ns
end

let mvar =
  let comparison host ~turns ~shared pass =
    let row impl pass = Case.row ~case:"mvar" ~impl ~host (Time pass) in
    {
      title =
        "one message between two threads, through the paper's MVar and through \
         the shared one, " ^ host;
      baseline = row "private" pass;
      others =
        Option.to_list (Option.map (row "private-mvar") turns)
        @ [ row "concord" shared ];
    }
  in
  let module Private_trampoline = Trampolined_messages (Private_mvar.Trampoline)
  in
  let module With_turns =
    Trampolined_messages (Private_mvar.Trampoline_with_turns)
  in
  let module Trampoline = Trampolined_messages (Concord_styles.Trampoline) in
  let module Private_delimited = Direct_messages (Private_mvar.Delimited) in
  let module Delimited = Direct_messages (Concord_styles.Delimited) in
  let module Private_callcc = Direct_messages (Private_mvar.Callcc) in
  let module Callcc = Direct_messages (Concord_styles.Callcc) in
  [
    comparison "trampoline" Private_trampoline.pass
      ~turns:(Some With_turns.pass) ~shared:Trampoline.pass;
    comparison "delimited" Private_delimited.pass ~turns:None
      ~shared:Delimited.pass;
    comparison "callcc" Private_callcc.pass ~turns:None ~shared:Callcc.pass;
  ]

let group =
  {
    name = "styles";
    doc = "threads in seven styles, by the programs of the paper";
    comparisons =
      List.concat
        [
          kpn_cases;
          sieve_100;
          [ sieve_1000 ];
          sorter_cases;
          yield_100;
          [ yield_100000 ];
          spawn;
          beside mvar;
          kpn_bytes;
          sieve_bytes;
          sorter_bytes;
        ];
  }
