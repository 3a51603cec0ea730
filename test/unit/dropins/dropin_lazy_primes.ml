(* Streams that are computed as far as they are used. *)

type 'a stream = 'a cell Lazy.t
and 'a cell = Cons of 'a * 'a stream

let head s = match Lazy.force s with Cons (x, _) -> x
let tail s = match Lazy.force s with Cons (_, s) -> s

let rec take n s =
  if n = 0 then []
  else match Lazy.force s with Cons (x, rest) -> x :: take (n - 1) rest

let rec from n = Lazy.from_fun (fun () -> Cons (n, from (n + 1)))

let rec filter p s =
  Lazy.from_fun (fun () ->
      match Lazy.force s with
      | Cons (x, rest) when p x -> Cons (x, filter p rest)
      | Cons (_, rest) -> Lazy.force (filter p rest))

let rec map f s = Lazy.map (fun (Cons (x, rest)) -> Cons (f x, map f rest)) s

let rec zip f a b =
  Lazy.from_fun (fun () -> Cons (f (head a) (head b), zip f (tail a) (tail b)))

let rec sieve s =
  Lazy.map
    (fun (Cons (p, rest)) ->
      Cons (p, sieve (filter (fun n -> n mod p <> 0) rest)))
    s

(* Defined by itself, because each number needs the two before it. *)
let fibonacci =
  let cell = ref (Lazy.from_fun (fun () -> assert false)) in
  let rest =
    Lazy.from_fun (fun () -> Lazy.force (zip ( + ) !cell (tail !cell)))
  in
  cell := Lazy.from_val (Cons (0, Lazy.from_val (Cons (1, rest))));
  !cell

let print name s =
  Printf.printf "%s: %s\n" name (String.concat " " (List.map string_of_int s))

let () =
  let primes = sieve (from 2) in
  print "primes" (take 20 primes);
  print "again" (take 5 primes);
  print "squares" (take 10 (map (fun n -> n * n) (from 1)));
  print "fibonacci" (take 15 fibonacci);
  Printf.printf "the 100th prime: %d\n" (List.nth (take 100 primes) 99)
