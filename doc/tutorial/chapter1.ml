open Concord

let with_pool f = Workers.with_workers ~domains:1 f

let is_prime k =
  let rec has_divisor d = d * d <= k && (k mod d = 0 || has_divisor (d + 1)) in
  not (has_divisor 2)

let primes_below n =
  let rec count found k =
    if k >= n then found
    else count (if is_prime k then found + 1 else found) (k + 1)
  in
  count 0 2

(* Try it *)

let with_clock f =
  let ticks = ref 0 in
  let rec tick () =
    Eio_unix.sleep 0.001;
    incr ticks;
    tick ()
  in
  let primes = Eio.Fiber.first tick f in
  let clock = if !ticks = 0 then "stood still" else "ticked" in
  Printf.printf "%d primes, and the clock %s\n" primes clock

let () =
  with_pool @@ fun pool ->
  Eio_main.run @@ fun _ ->
  with_clock (fun () -> Workers.run pool (fun () -> primes_below 1_000_000))
