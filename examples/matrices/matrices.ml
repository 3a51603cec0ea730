(* A pool of Domainslib multiplies matrices in parallel. Fibers of Eio and callbacks of Lwt
   wait for the products, and their loops run other tasks meanwhile. *)

open Concord

type matrix = float array array

let size = 200
let create f : matrix = Array.init size (fun i -> Array.init size (f i))

let cell (a : matrix) (b : matrix) i j =
  let sum = ref 0. in
  for k = 0 to size - 1 do
    sum := !sum +. (a.(i).(k) *. b.(k).(j))
  done;
  !sum

(* The domains of the pool share the rows. The promise is resolved when the last row is
   done. *)
let product pool a b : matrix Promise.t =
  let rows = Array.make size [||] in
  let row i = rows.(i) <- Array.init size (cell a b i) in
  Concord_domainslib.parallel_for pool ~start:0 ~finish:(size - 1) row
  |> Promise.map (fun () -> rows)

let identity = create (fun i j -> if i = j then 1. else 0.)
let numbers = create (fun i j -> float_of_int ((i * size) + j))

(* Multiplying by this permutation matrix moves the columns. *)
let shift n = create (fun i j -> if (i + n) mod size = j then 1. else 0.)

let in_eio pool =
  Eio_main.run @@ fun _ ->
  let there_and_back n () =
    let there = Promise.await (product pool numbers (shift n)) in
    let back = Promise.await (product pool there (shift (size - n))) in
    Printf.printf "Eio: %b, %b\n" (there = numbers) (back = numbers)
  in
  let turns = ref 0 in
  let rec others () =
    incr turns;
    Eio.Fiber.yield ();
    others ()
  in
  Eio.Fiber.first others (there_and_back 1);
  Printf.printf "other fibers ran meanwhile: %b\n%!" (!turns > 10)

(* The pool computes the first two products at the same time. *)
let in_lwt pool =
  Concord_lwt.run @@ fun () ->
  let open Lwt.Syntax in
  let product a b = Concord_lwt.to_lwt (product pool a b) in
  let* same = product numbers identity and* there = product numbers (shift 1) in
  let* back = product there (shift (size - 1)) in
  Printf.printf "Lwt: %b, %b, %b\n%!" (same = numbers) (there = numbers)
    (back = numbers);
  Lwt.return_unit

let () =
  let pool = Domainslib.Task.setup_pool ~num_domains:2 () in
  Concord_domainslib.attach pool;
  in_eio pool;
  in_lwt pool;
  Concord_domainslib.teardown pool
