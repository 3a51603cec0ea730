(* Long loops and many threads run in constant stack, and in memory that doesn't grow. *)

open Concord
open Concord_test_support
open Styles_cases
open Check

(* The memory of the whole process, because the stacks of effects lie outside the heap. *)
let resident_kb () = Concord_test_proc.number "self/status" "VmRSS"

let grows_less_than mb f =
  match resident_kb () with
  | None ->
      Concord_test_proc.skip "how much memory the process has";
      f ()
  | Some _ when instrumented -> f ()
  | Some _ ->
      Gc.full_major ();
      let before = Option.get (resident_kb ()) in
      f ();
      let grown = (Option.get (resident_kb ()) - before) / 1024 in
      yes (Printf.sprintf "grown by %d MB" grown) (grown < mb)

module Make (S : Style.S) = struct
  open S

  let n =
    if not is_light then 5_000 else if instrumented then 20_000 else 1_000_000

  let run fs =
    List.iter spawn fs;
    start ()

  let rec loop n f =
    if n = 0 then return ()
    else
      let* () = f n in
      loop (n - 1) f

  let bounded f () = grows_less_than 100 f

  (* Nothing has to wait. *)
  let at_once =
    bounded (fun () ->
        let m = Mvar.create_empty () and q = make_fifo () and sum = ref 0 in
        run
          [
            (fun () ->
              loop n (fun i ->
                  let* () = put m i in
                  let* j = take m in
                  put_fifo q j;
                  let* j = take_fifo q in
                  let* () = skip () in
                  sum := !sum + j;
                  return ()));
          ];
        int "sum" (n * (n + 1) / 2) !sum)

  let yields =
    bounded (fun () ->
        let count = ref 0 in
        run
          [
            (fun () ->
              loop n (fun _ ->
                  incr count;
                  yield ()));
          ];
        int "count" n !count)

  let blocks =
    bounded (fun () ->
        let m = Mvar.create_empty () and back = Mvar.create_empty () in
        let sum = ref 0 in
        run
          [
            (fun () ->
              loop n (fun _ ->
                  let* i = take m in
                  put back (i + 1)));
            (fun () ->
              loop n (fun i ->
                  let* () = put m i in
                  let* j = take back in
                  sum := !sum + j;
                  return ()));
          ];
        int "sum" ((n * (n + 1) / 2) + n) !sum)

  let direct_loops =
    bounded (fun () ->
        let n = n / 10 and count = ref 0 in
        run
          [
            (fun () ->
              loop n (fun _ ->
                  direct (fun () ->
                      incr count;
                      Concord.Tasks.yield ())));
          ];
        int "count" n !count)

  (* Sets that end in each way. *)
  let sets =
    bounded (fun () ->
        let m = Mvar.create_empty () in
        let times = if is_light then n / 20 else 300 in
        for i = 1 to times do
          let waits () = take m in
          match
            run
              [
                waits;
                waits;
                (fun () ->
                  let* () = yield () in
                  if i mod 2 = 0 then stop () else raise Exit);
              ]
          with
          | () | (exception Exit) -> ()
        done;
        int "waiters" 0 (Mvar.waiters m))

  (* Each thread spawns the next one. *)
  let generations =
    bounded (fun () ->
        let count = ref 0 in
        let rec thread n () =
          incr count;
          if n > 1 then spawn (thread (n - 1));
          return ()
        in
        run [ thread n ];
        int "count" n !count)

  (* A value passes through a long chain, in which all threads wait at the same time. *)
  let chain () =
    let length = if is_light then 100_000 else 200 in
    let length = if instrumented then length / 20 else length in
    let last = ref 0 in
    let rec build left i =
      if i = 0 then
        spawn (fun () ->
            let* v = take left in
            last := v;
            return ())
      else begin
        let right = Mvar.create_empty () in
        spawn (fun () ->
            let* v = take left in
            put right (v + 1));
        build right (i - 1)
      end
    in
    let first = Mvar.create_empty () in
    build first length;
    spawn (fun () ->
        let* () = yield () in
        put first 0);
    start ();
    int "at the end" length !last

  let many_stopped () =
    let n = if is_light then n / 10 else 300 in
    let m = Mvar.create_empty () in
    for _ = 1 to n do
      spawn (fun () -> take m)
    done;
    spawn (fun () ->
        let* () = yield () in
        stop ());
    start ();
    int "waiters" 0 (Mvar.waiters m)

  let cases =
    ( name,
      [
        test "operations that do not wait" at_once;
        test "yields" yields;
        test "operations that wait" blocks;
        test "direct" direct_loops;
      ]
      (* In indirect style, exceptions pass functions with too many arguments. ThreadSanitizer
         fails if that happens so often, see tools/tsan/run.sh. *)
      @ (if instrumented && not is_direct then [] else [ test "sets" sets ])
      @ [
          test "generations" generations;
          test "a chain" chain;
          test "many are stopped" many_stopped;
        ] )
end

let () =
  run "Styles, long loops"
    (List.map
       (fun (module S : Style.S) ->
         let module Loops = Make (S) in
         Loops.cases)
       Style.all)
