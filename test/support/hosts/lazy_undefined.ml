(* Lazy values that need themselves, and others that only seem to, in every place where a task
   can run. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

type place = (unit -> unit) -> unit

(* [n] lazy values. The computation of each gets the array of all of them, and its number. *)
let lazies n compute =
  let all = Array.make n (Lazy.from_val 0) in
  for i = 0 to n - 1 do
    all.(i) <- Lazy.from_fun (fun () -> compute all i)
  done;
  all

let undefined t =
  raises "force" Lazy.Undefined (fun () -> Lazy.force t);
  raises "again" Lazy.Undefined (fun () -> Lazy.force t)

(* --- It needs itself ------------------------------------------------------ *)

let directly () = undefined (lazies 1 (fun all _ -> Lazy.force all.(0) + 1)).(0)

let through_others () =
  let all = lazies 3 (fun all i -> Lazy.force all.((i + 1) mod 3)) in
  undefined all.(0);
  Array.iter undefined all

let through_map () =
  let t =
    lazies 1 (fun all _ -> Lazy.force (Lazy.map succ (Lazy.map succ all.(0))))
  in
  undefined t.(0)

let through_map_val () =
  let t = lazies 1 (fun all _ -> Lazy.force (Lazy.map_val succ all.(0))) in
  undefined t.(0)

(* The task has been resumed since it began, perhaps on another thread. *)
let after_a_wait () =
  let all =
    lazies 2 (fun all i ->
        let p = Promise.create () in
        let join = thread (fun () -> Promise.fill p ()) in
        Promise.await p;
        join ();
        Lazy.force all.(1 - i))
  in
  undefined all.(0)

type _ Effect.t += Own : int Effect.t

(* The computation runs under a handler of the user's program. *)
let within_a_handler () =
  let effc (type a) (e : a Effect.t) :
      ((a, int) Effect.Deep.continuation -> int) option =
    match e with Own -> Some (fun k -> Effect.Deep.continue k 1) | _ -> None
  in
  let compute all _ =
    Effect.Deep.try_with
      (fun () -> Effect.perform Own + Lazy.force all.(0))
      () { effc }
  in
  undefined (lazies 1 compute).(0)

let within_protect () =
  undefined
    (lazies 1 (fun all _ -> Suspend.protect (fun () -> Lazy.force all.(0)))).(0)

(* The computation catches the exception, and continues without the value. *)
let caught () =
  let all =
    lazies 2 (fun all i ->
        try Lazy.force all.(1 - i) + 1 with Lazy.Undefined -> 1)
  in
  int "first" 2 (Lazy.force all.(0));
  int "second" 1 (Lazy.force all.(1))

(* The computation needs values that are forced already, and two values that need the same
   third one. *)
let no_cycle () =
  let all =
    lazies 4 (fun all i ->
        match i with
        | 0 -> 1
        | 3 -> Lazy.force all.(1) + Lazy.force all.(2)
        | _ -> Lazy.force all.(0) + 1)
  in
  int "force" 4 (Lazy.force all.(3))

(* Another task forces what the computation needs. *)
let needs_one_elsewhere () =
  let gate = Promise.create () in
  let x = Lazy.from_fun (fun () -> Promise.await gate) in
  let join = thread (fun () -> ignore (Lazy.force x : int)) in
  eventually "x is being forced" (fun () -> Promise.waiters gate = 1);
  let filler =
    thread (fun () ->
        eventually "y waits for x" (fun () -> Lazy.waiters x = 1);
        Promise.fill gate 5)
  in
  let y = Lazy.map succ (Lazy.map succ x) in
  int "force" 7 (Lazy.force y);
  filler ();
  join ()

let here (place : place) name f = test name (fun () -> place f)

(* The cases in which no other task runs meanwhile. *)
let alone place =
  let here = here place in
  [
    here "it needs itself" directly;
    here "through two others" through_others;
    here "through map" through_map;
    here "through map_val" through_map_val;
    here "under a handler of the user's" within_a_handler;
    here "under protect" within_protect;
    here "the computation catches it" caught;
    here "two need a third" no_cycle;
  ]

let within place =
  alone place
  @ [
      here place "after it waited" after_a_wait;
      here place "it needs what is forced elsewhere" needs_one_elsewhere;
    ]

(* --- Tasks of one host ---------------------------------------------------- *)

type together = (unit -> unit) list -> unit
(** Runs the functions in tasks, until all have ended. *)

(* One task computes until the others wait for it. *)
let concurrently (together : together) () =
  let gate = Promise.create () and runs = Atomic.make 0 in
  let x =
    Lazy.from_fun (fun () ->
        Atomic.incr runs;
        Promise.await gate)
  in
  let y = Lazy.map succ x in
  let sum = Atomic.make 0 in
  let force t () = ignore (Atomic.fetch_and_add sum (Lazy.force t) : int) in
  let filler =
    thread (fun () ->
        eventually "they wait" (fun () ->
            Lazy.waiters x = 3 && Lazy.waiters y = 1);
        Promise.fill gate 5)
  in
  together [ force x; force x; force x; force y; force y ];
  filler ();
  int "all have the value" 27 (Atomic.get sum);
  int "computed" 1 (Atomic.get runs)

(* Each of [n] values needs the next one, when all of them are being forced. *)
let cycle n (together : together) () =
  let begun = Latch.create n and undefined = Atomic.make 0 in
  let all =
    lazies n (fun all i ->
        Latch.count_down begun;
        Latch.await begun;
        Lazy.force all.((i + 1) mod n))
  in
  let force i () =
    match Lazy.force all.(i) with
    | (_ : int) -> ()
    | exception Lazy.Undefined -> Atomic.incr undefined
  in
  together (List.init n force);
  int "each is undefined" n (Atomic.get undefined)

(* The same, but the tasks that get [Undefined] continue without the value. *)
let cycle_caught n (together : together) () =
  let begun = Latch.create n and undefined = Atomic.make 0 in
  let all =
    lazies n (fun all i ->
        Latch.count_down begun;
        Latch.await begun;
        try Lazy.force all.((i + 1) mod n) + 1
        with Lazy.Undefined ->
          Atomic.incr undefined;
          0)
  in
  together (List.init n (fun i () -> ignore (Lazy.force all.(i) : int)));
  yes "at least one got Undefined" (Atomic.get undefined >= 1);
  yes "all are forced" (Array.for_all Lazy.is_val all)

let among (together : together) =
  test "they wait for the one that computes" (concurrently together)
  :: List.concat_map
       (fun n ->
         let name = Printf.sprintf "a cycle over %d tasks" n in
         [
           test name (cycle n together);
           test (name ^ ", caught") (cycle_caught n together);
         ])
       [ 2; 3; 5 ]

let fibers fs = Eio_main.run (fun _ -> Eio.Fiber.all fs)
let eio f = Eio_main.run (fun _ -> f ())

let tasks fs =
  Concord_fifo.run @@ fun () ->
  List.iter Concord_fifo.join (List.map Concord_fifo.fork fs)

let fifo f = Concord_fifo.run f

(* --- A scheduler within a computation -------------------------------------- *)

(* [x] is computed by a scheduler in which two tasks need [y]. They wait, because another
   thread is forcing [y]. *)
let scheduler_within (together : together) (place : place) () =
  place @@ fun () ->
  let gate = Promise.create () in
  let y = Lazy.from_fun (fun () -> Promise.await gate) in
  let z = Lazy.map succ y in
  let join = thread (fun () -> ignore (Lazy.force y : int)) in
  eventually "y is being forced" (fun () -> Promise.waiters gate = 1);
  let filler =
    thread (fun () ->
        eventually "both wait" (fun () -> Lazy.waiters y = 2);
        Promise.fill gate 5)
  in
  let x =
    Lazy.from_fun (fun () ->
        let sum = Atomic.make 0 in
        let add t () = ignore (Atomic.fetch_and_add sum (Lazy.force t) : int) in
        together [ add y; add z ];
        Atomic.get sum)
  in
  int "force" 11 (Lazy.force x);
  filler ();
  join ()
