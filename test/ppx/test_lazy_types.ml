(* The use of types and other features of the language with [lazy p], and several domains. *)

[@@@concord.lazy]

open Concord

type _ g = I : int -> int g | S : string -> string g
type packed = P : 'a g Lazy.t * 'a -> packed
type poly = { f : 'a. 'a -> 'a }

module type S = sig
  val x : int
end

let gadt : type a. a g Lazy.t -> a = function
  | (lazy (I n)) -> n + 1
  | (lazy (S s)) -> s ^ "!"

let gadt2 (p : packed) =
  match p with
  | P ((lazy (I n)), m) -> n + m
  | P ((lazy (S _)), s) -> String.length s

let poly (l : poly Lazy.t) = match l with (lazy { f }) -> (f 1, f "a")
let modul (lazy x) (module M : S) ?(d = 3) () = x + M.x + d
let ( let* ) x f = f x

let op l =
  let* lazy (x, y) = l in
  let* lazy z = lazy (x + y) in
  z

let nested l =
  List.map
    (function
      | (lazy (Some x)), (lazy y) when x > 0 -> x + y | _, (lazy y) -> y)
    l

let rec loop n (lazy acc) = if n = 0 then acc else loop (n - 1) (lazy (acc + 1))

let local l =
  let rec go = function
    | (lazy []) -> 0
    | (lazy (x :: xs)) -> x + go (lazy xs)
  in
  go l

let ex f = match f () with exception Not_found -> 0 | (lazy x) -> x
let eff l = (fun ((lazy x) : int Lazy.t) : int -> x) l

let () =
  assert (gadt (lazy (I 1)) = 2 && gadt2 (P (lazy (S "ab"), "abc")) = 3);
  assert (poly (lazy { f = (fun x -> x) }) = (1, "a"));
  assert (
    modul
      (lazy 1)
      (module struct
        let x = 2
      end)
      ()
    = 6);
  assert (op (lazy (1, 2)) = 3);
  assert (nested [ (lazy (Some 1), lazy 2); (lazy None, lazy 5) ] = [ 3; 5 ]);
  assert (loop 100000 (lazy 0) = 100000);
  assert (local (lazy [ 1; 2; 3 ]) = 6);
  assert (ex (fun () -> lazy 2) = 2 && eff (lazy 3) = 3);
  let computed = Atomic.make 0 in
  let s =
    lazy
      (Atomic.incr computed;
       Some (lazy 5))
  in
  let n = Atomic.make 0 in
  let work () =
    match s with (lazy (Some (lazy 5))) -> Atomic.incr n | (lazy _) -> ()
  in
  let ds = List.init 3 (fun _ -> Domain.spawn work) in
  work ();
  List.iter Domain.join ds;
  assert (Atomic.get n = 4 && Atomic.get computed = 1)
