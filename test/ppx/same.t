The same program with Stdlib's lazy values and with Concord's. This shows whether the compiler
accepts it, and which warnings it prints.

  $ with_lazy () {
  >   printf '%s\n' "$1" "$2" >user.ml
  >   ocamlfind ocamlc -package ppx_concord -w +a-4-40..42-44-70 -c user.ml >output 2>&1
  >   code=$?
  >   grep -oE '^(File .*, l|Warning [0-9]+|Error)' output | grep -oE 'Warning [0-9]+|Error'
  >   test $code != 0 || echo accepted
  > }
  $ both () {
  >   with_lazy '' "$1" >stdlib
  >   with_lazy '[@@@concord.lazy] open Concord [@@ocaml.warning "-33"]' "$1" >concord
  >   if cmp -s stdlib concord; then echo $(cat stdlib)
  >   else echo 'Stdlib:' $(cat stdlib); echo 'Concord:' $(cat concord); fi
  > }

Patterns:

  $ both 'let f x : int Lazy.t -> int = function lazy 0 -> x | lazy n -> x + n'
  accepted
  $ both 'let lazy () = lazy () let lazy _ = lazy 1'
  accepted
  $ both 'let lazy (Some x) = lazy (Some 1)'
  Warning 8 accepted
  $ both 'type _ g = I : int g | S : string g
  > let f (type a) (p : a g Lazy.t * a) : int = match p with
  >   lazy I, (n : int) -> n | lazy S, (s : string) -> String.length s'
  accepted
  $ both 'type _ g = I : int g | S : string g
  > let f (type a) (l : a g Lazy.t) (x : a) : int = match l, x with
  >   lazy I, (n : int) -> n | lazy S, (n : int) -> n'
  Error
  $ both 'let f = function Some (lazy x) | None, x -> x'
  Error
  $ both 'let f = function (Some (lazy x), _) | (None, lazy x) -> x'
  accepted
  $ both 'let f = function (Some (lazy x), _) | (None, lazy x) when x > 0 -> x | _ -> 0'
  accepted
  $ both 'let f = function lazy (1 | 2) | lazy 3 -> 0'
  Warning 8 accepted
  $ both 'let f = function lazy true | lazy false -> 0'
  accepted
  $ both 'let f (lazy true | lazy false) = 0'
  accepted
  $ both 'let f (lazy x) x = x'
  Warning 27 accepted

Variables:

  $ both 'let f = function x, lazy x -> x'
  Error
  $ both 'let f = function lazy (x, x) -> x'
  Error
  $ both 'let f = function lazy x as x -> x'
  Error
  $ both 'let f = function Some (lazy x) | None -> 1'
  Error
  $ both 'let f = function lazy 0, _ | _, lazy y -> 1'
  Error
  $ both 'let f = function (lazy 0 as x), _ | _, lazy y -> 1'
  Error
  $ both 'let f l = let lazy x = l and lazy x = l in x'
  Error
  $ both 'let lazy x = lazy 1 and x = 2'
  Error
  $ both 'let ( let* ) x f = f x let ( and* ) x y = (x, y)
  > let f l = let* lazy x = l and* x = 2 in x'
  Error
  $ both 'let f (lazy x, x) = x'
  Error
  $ both 'class c = object method m (lazy (x, x)) = x end'
  Error

Recursion:

  $ both 'let rec l = lazy (f 2) and f = fun l -> l + 1'
  accepted
  $ both 'let k () = let rec l = lazy (f 2) and f = fun l -> l + 1 in l'
  accepted
  $ both 'let rec f = fun l -> l + 1 and x = 1 let rec l = lazy 1'
  Warning 39 Warning 39 accepted
  $ both 'let rec l = lazy 3 and k = lazy (Lazy.force l)'
  accepted
  $ both 'let rec l = lazy (1 + Lazy.force l)'
  accepted
  $ both 'let f () = let rec l = lazy (1 + Lazy.force l) in ()'
  Warning 26 accepted
  $ both 'let f () = let rec l = lazy (1 + Lazy.force k) and k = lazy 1 in l'
  accepted
  $ both 'module M : sig end = struct let rec l = lazy (1 + Lazy.force l) end'
  Warning 32 accepted
  $ both 'module M : sig val l : int Lazy.t end = struct let rec l = lazy (Lazy.force k) and k = lazy 1 end'
  accepted
  $ both 'let rec f = fun x -> if x then lazy 1 else f true'
  accepted

Expected types:

  $ both 'type r = { q : int } type s = { q : bool } type k = K of r Lazy.t let k = K (lazy { q = 4 })'
  accepted
  $ both 'module type S = sig end let l : (module S) Lazy.t = lazy (module struct end)'
  accepted
  $ both 'let l : (int -> string, unit, string) format Lazy.t = lazy "%d"'
  accepted
  $ both 'type r = { q : int } type s = { q : bool } let f (lazy { q } : r Lazy.t) = q + 1'
  accepted

Generalisation:

  $ both 'let l = lazy 1 let lazy x, f = l, fun x -> x let _ = f 1, f true, x'
  accepted
  $ both 'let lazy x = lazy 1 and f = fun x -> x let _ = f 1, f true, x'
  accepted
  $ both 'let g l = let lazy x = l and f = fun x -> x in f 1, f true, x'
  accepted

Sizes: twelve or-patterns side by side, and twelve nested lazy patterns.

  $ repeat () { yes "$1" | head -12 | tr -d '\n'; }
  $ both "let f = function 0$(repeat ', ((lazy 0), 0 | (lazy 1), 1)') -> 1 | _ -> 0"
  accepted
  $ both "type t = C of t Lazy.t | N let f = function $(repeat 'C (lazy (')N$(repeat '))') -> 1 | _ -> 0"
  accepted

A difference: lazy e is a call. So nothing beside it in the same expression is generalised, and
a function in it isn't either.

  $ both 'let lazy x, f = lazy 1, fun x -> x let _ = f 1, f true, x'
  Stdlib: accepted
  Concord: Error
  $ both 'let l = lazy [] let _ = (l : int list Lazy.t), (l : bool list Lazy.t)'
  Stdlib: accepted
  Concord: Error
  $ both 'let lazy f = lazy (fun x -> x) let _ = f 1, f true'
  Stdlib: accepted
  Concord: Error

Among recursive modules, the compiler has special rules for Stdlib's lazy values only.

  $ both 'module rec M : sig val l : int Lazy.t end = struct let l = lazy (Lazy.force N.l) end
  > and N : sig val l : int Lazy.t end = struct let l = lazy (if true then 1 else Lazy.force M.l) end'
  Stdlib: accepted
  Concord: Error
  $ both 'module rec M : sig val l : int Lazy.t val f : unit -> int end = struct let l = lazy (N.f ()) let f () = 1 end
  > and N : sig val f : unit -> int end = struct let f () = M.f () end'
  accepted

A let with more than one binding, or in a structure, binds no module. A let rec doesn't find
lazy e below a let.

  $ both 'module type S = sig end let f l = let lazy (module M : S) = l in ()'
  Warning 60 accepted
  $ both 'module type S = sig end let f l m = let lazy (module M : S) = l and lazy n = m in n'
  Stdlib: Warning 60 accepted
  Concord: Error
  $ both 'type s = C of int * s Lazy.t let rec l = let n = 1 in C (n, lazy l)'
  Stdlib: accepted
  Concord: Error

With Concord, a variable of a let rec counts as used if only another one uses it.

  $ both 'let f () = let rec l = lazy (1 + Lazy.force k) and k = lazy 1 in ()'
  Stdlib: Warning 26 Warning 26 accepted
  Concord: Warning 26 accepted

The type has the same name as in the interface.

  $ named () { printf '%s\n' "$1" >user.ml; ocamlfind ocamlc -package ppx_concord -c user.ml 2>&1 | grep -o '[^ ]*azy[^ ]*\.t$'; }
  $ named 'let x : int = [%lazy 1]'
  Concord.Lazy.t
  $ named '[@@@concord.lazy] let x : int = lazy (1 + 1)'
  Concord.Lazy.t
  $ named '[@@@concord.lazy] let f (lazy x) = x let y = f 1'
  Concord.Lazy.t
  $ named '[@@@concord.lazy] let rec x = lazy (1 + Concord.Lazy.force x) let y : int = x'
  Concord.Lazy.t
