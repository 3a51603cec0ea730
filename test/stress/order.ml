(* Several producers and consumers share one Mvar, on several hosts. Some are cancelled all the
   time. Each consumer sees the values of each producer in the order in which they were put.
   All values arrive exactly once. *)

open Concord
open Concord_test_support.Race

let hosts = 3
let last = if long then 1_000_000 else 60_000

type message = Message of { producer : int; number : int } | End

let box : message Mvar.t = Mvar.create_empty ()
let cancelled = Atomic.make 0

(* --- Producers and consumers ---------------------------------------------- *)

let producing = Atomic.make hosts

(* [attempt f] is [f ()], or [None] if it was cancelled. *)
type attempt = { attempt : 'a. (unit -> 'a) -> 'a option }

let rec put_all { attempt } producer number =
  if number <= last then
    let message = Message { producer; number } in
    match attempt (fun () -> Mvar.put box message) with
    | Some () -> put_all { attempt } producer (number + 1)
    | None -> put_all { attempt } producer number

(* The last producer to end informs the consumers. *)
let produce attempt producer =
  put_all attempt producer 1;
  if Atomic.fetch_and_add producing (-1) = 1 then
    for _ = 1 to hosts do
      Mvar.put box End
    done

let received = Array.init hosts (fun _ -> Array.make hosts [])

let rec consume { attempt } consumer =
  match attempt (fun () -> Mvar.take box) with
  | Some End -> ()
  | None -> consume { attempt } consumer
  | Some (Message { producer; number }) ->
      let mine = received.(consumer) in
      (match mine.(producer) with
      | before :: _ when before >= number ->
          fail "%d after %d, of producer %d" number before producer
      | _ -> ());
      mine.(producer) <- number :: mine.(producer);
      consume { attempt } consumer

(* --- Hosts ---------------------------------------------------------------- *)

let undisturbed = { attempt = (fun f -> Some (f ())) }

(* Every attempt is a task, which is cancelled now and then. *)
let disturbed random =
  let attempt f =
    let result = ref None in
    let work () =
      match f () with
      | v -> result := Some v
      | exception Concord_fifo.Cancelled -> Atomic.incr cancelled
    in
    let task = Concord_fifo.fork work in
    if Random.State.int random 4 = 0 then Concord_fifo.cancel task;
    Concord_fifo.join task;
    !result
  in
  { attempt }

let in_fifo n f () = Concord_fifo.run (fun () -> f (disturbed (random n)))

let () =
  watchdog ~seconds:(if long then 900. else 90.);
  Printf.printf "seed %d\n%!" seed;
  let both host i =
    Test_host.run_all host
      [ (fun () -> produce undisturbed i); (fun () -> consume undisturbed i) ]
  and on_threads = Test_host.run_all Basic_hosts.threads in
  let eio () = both Eio_hosts.fibers 0
  and fifo () =
    on_threads
      [
        in_fifo 1 (fun attempt -> produce attempt 1);
        in_fifo 2 (fun attempt -> consume attempt 1);
      ]
  and threads () = both Basic_hosts.threads 2 in
  let domain = Domain.spawn (fun () -> on_threads [ eio; fifo ]) in
  threads ();
  Domain.join domain;
  for producer = 0 to hosts - 1 do
    let numbers =
      List.concat_map (fun mine -> mine.(producer)) (Array.to_list received)
    in
    if List.sort Int.compare numbers <> List.init last succ then
      fail "not every value of producer %d arrived once" producer
  done;
  if Mvar.waiters box <> 0 || not (Mvar.is_empty box) then
    fail "something is left";
  Printf.printf "%d values, %d waits cancelled\n" (hosts * last)
    (Atomic.get cancelled)
