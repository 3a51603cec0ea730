(* What the storms share: two crews of tasks, each on a domain of its own, whose
   operations are cancelled at random moments, by tasks of both. *)

open Concord_test_support.Race
module Fifo = Concord_fifo

type host = Fifo_host | Lazy_fifo_host | Eio_host

let name = function
  | Fifo_host -> "fifo"
  | Lazy_fifo_host -> "lazy fifo"
  | Eio_host -> "eio"

type t = {
  index : int;  (** 0 or 1. *)
  host : host;
  random : Random.State.t;
  own : (unit -> unit) Atomic.t array;
      (** To cancel attempts of this crew, most of which wait. *)
  reachable : (unit -> unit) Atomic.t array;
      (** Those, and the other crew's if another domain may call them. *)
  mutable attempts : int;
  mutable cancelled : int;
}

let any t choices = choices.(Random.State.int t.random (Array.length choices))

(* Once in [n] times. *)
let at_random t n = Random.State.int t.random n = 0

let yield t =
  match t.host with
  | Fifo_host | Lazy_fifo_host -> Fifo.yield ()
  | Eio_host -> Eio.Fiber.yield ()

let nobody () = ()

(* [exposed t cancel f] is [f ()], while others may call [cancel]; there is room for
   each task of a crew. *)
let exposed t cancel f =
  let n = Array.length t.own in
  let rec occupy i =
    let slot = t.own.(i mod n) in
    if Atomic.compare_and_set slot nobody cancel then slot else occupy (i + 1)
  in
  let slot = occupy (Random.State.int t.random n) in
  let v = f () in
  Atomic.set slot nobody;
  v

let cancel_somebody t = (Atomic.get (any t t.reachable)) ()

(* --- Attempts ------------------------------------------------------------- *)

let in_task t f =
  let result = ref None in
  let work () =
    if at_random t 16 then Fifo.cancel (Fifo.self ());
    match f () with v -> result := Some v | exception Fifo.Cancelled -> ()
  in
  let task = Fifo.fork work in
  let cancel () = Fifo.cancel task in
  exposed t cancel (fun () ->
      (match Random.State.int t.random 12 with
      | 0 -> cancel ()
      | 1 ->
          yield t;
          cancel ()
      | _ -> ());
      Fifo.join task);
  !result

exception Enough

let in_context t f =
  let body context =
    let cancel () = Eio.Cancel.cancel context Enough in
    exposed t cancel (fun () ->
        if at_random t 16 then cancel ();
        match f () with
        | v -> Some v
        | exception Eio.Cancel.Cancelled Enough -> None)
  in
  let result = ref None in
  (try Eio.Cancel.sub (fun context -> result := body context)
   with Eio.Cancel.Cancelled Enough -> ());
  !result

(* [attempt t f] is [f ()], or [None] if that was cancelled. *)
let attempt t f =
  t.attempts <- t.attempts + 1;
  (match Random.State.int t.random 8 with
  | 0 | 1 | 2 -> cancel_somebody t
  | 3 -> yield t
  | _ -> ());
  let result =
    match t.host with
    | Fifo_host | Lazy_fifo_host -> in_task t f
    | Eio_host -> in_context t f
  in
  if Option.is_none result then t.cancelled <- t.cancelled + 1;
  result

(* Until it is not cancelled. *)
let rec insist t f = match attempt t f with Some v -> v | None -> insist t f

(* --- Storms --------------------------------------------------------------- *)

let run_tasks t tasks =
  match t.host with
  | Eio_host -> Eio_main.run (fun _ -> Eio.Fiber.all tasks)
  | Fifo_host | Lazy_fifo_host ->
      let cancellation = if t.host = Fifo_host then `Eager else `Lazy in
      Fifo.run ~cancellation (fun () ->
          List.iter (fun f -> ignore (Fifo.fork f : Fifo.handle)) tasks)

let storms = ref 0

(* [storm hosts tasks] runs [tasks crew] for both crews, and returns when they have
   ended: how many attempts they made, and how many were cancelled. *)
let storm (a, b) tasks =
  incr storms;
  let slots () = Array.init 20 (fun _ -> Atomic.make nobody) in
  let own_a = slots () and own_b = slots () in
  let abroad host own = match host with Eio_host -> [||] | _ -> own in
  let crew index host own others =
    {
      index;
      host;
      random = random ((2 * !storms) + index);
      own;
      reachable = Array.append own others;
      attempts = 0;
      cancelled = 0;
    }
  in
  let a = crew 0 a own_a (abroad b own_b)
  and b = crew 1 b own_b (abroad a own_a) in
  let work t =
    try run_tasks t (tasks t)
    with e -> fail "a host ended with %s" (Printexc.to_string e)
  in
  let domain = Domain.spawn (fun () -> work a) in
  work b;
  Domain.join domain;
  (a.attempts + b.attempts, a.cancelled + b.cancelled)

let sides =
  [ (Fifo_host, Fifo_host); (Lazy_fifo_host, Fifo_host); (Eio_host, Fifo_host) ]

(* [rounds n storms]: each of them, [n] times between each two sides, and what that
   came to. *)
let rounds n storms =
  let each (name_of_storm, storm) =
    let between ((a, b) as hosts) =
      let start = Unix.gettimeofday () in
      let attempts = ref 0 and cancelled = ref 0 in
      for _ = 1 to n do
        let more, of_them_cancelled = storm hosts in
        attempts := !attempts + more;
        cancelled := !cancelled + of_them_cancelled
      done;
      let seconds = Unix.gettimeofday () -. start in
      Printf.printf
        "%-16s %-9s and %-4s %8d attempts %8d cancelled %8.0f per second\n%!"
        name_of_storm (name a) (name b) !attempts !cancelled
        (float !attempts /. seconds)
    in
    List.iter between sides
  in
  watchdog ~seconds:(if long then 3_600. else 90.);
  Printf.printf "seed %d\n%!" seed;
  List.iter each storms
