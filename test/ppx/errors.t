The compiler as a user calls it, with the installed packages. What it says itself is
not shown, since that changes with its version, but where.

  $ compile () {
  >   printf '%s\n' "$1" >user.ml
  >   ocamlfind ocamlc -package ppx_concord -w +a-40..42-70 ${2--c} user.ml 2>&1 |
  >     grep -oE '^(File .*|Warning [0-9]+|Error: (Unbound|.*lazy).*|val .*)'
  > }

What is no lazy value:

  $ compile 'let x = [%lazy]'
  File "user.ml", line 1, characters 8-15:
  Error: [%lazy] needs an expression. Write [%lazy e]
  $ compile 'let x = [%lazy: int]'
  File "user.ml", line 1, characters 8-20:
  Error: [%lazy: ...] isn't a type. The type of a lazy t is t Concord.Lazy.t
  $ compile 'let x = [%lazy: val x : int]'
  File "user.ml", line 1, characters 8-28:
  Error: [%lazy: ...] takes an expression, not a signature. Write [%lazy e]
  $ compile 'let x = [%lazy? x]'
  File "user.ml", line 1, characters 8-18:
  Error: [%lazy? ...] isn't a pattern. Use Concord.Lazy.force
  $ compile 'let x = [%lazy type t]'
  File "user.ml", line 1, characters 8-22:
  Error: [%lazy ...] takes one expression. Write [%lazy e]
  $ compile 'let x = [%lazy let y = 1]'
  File "user.ml", line 1, characters 8-25:
  Error: [%lazy let ...] needs an in after its let
  $ compile 'let x = [%lazy 1 [@@attribute]]'
  File "user.ml", line 1, characters 8-31:
  Error: [%lazy ...] takes one expression. Write [%lazy e]
  $ compile 'let x = [%lazy 1;; 2]'
  File "user.ml", line 1, characters 8-21:
  Error: [%lazy ...] takes one expression. Write [%lazy e]
  $ compile '[%%lazy 1]'
  File "user.ml", line 1, characters 0-10:
  Error: [%%lazy ...] isn't a definition. Write let%lazy x = e
  $ compile '[%%lazy]'
  File "user.ml", line 1, characters 0-8:
  Error: [%%lazy ...] isn't a definition. Write let%lazy x = e
  $ compile 'module%lazy M = N'
  File "user.ml", line 1, characters 0-17:
  Error: [%%lazy ...] isn't a definition. Write let%lazy x = e
  $ compile 'type t = [%lazy: int]'
  File "user.ml", line 1, characters 9-21:
  Error: [%lazy ...] isn't a type. The type of a lazy t is t Concord.Lazy.t
  $ compile 'let f [%lazy? x] = x'
  File "user.ml", line 1, characters 6-16:
  Error: [%lazy ...] isn't a pattern. Use Concord.Lazy.force
  $ compile 'module type S = sig val%lazy x : int end'
  File "user.ml", line 1, characters 20-36:
  Error: %lazy can't be used in a signature. Write val x : t Concord.Lazy.t

What is no variable, and has no quantifiers:

  $ compile 'let%lazy _ = 1'
  File "user.ml", line 1, characters 9-10:
  Error: let%lazy can bind only variables. Match where you force the value
  $ compile 'let%lazy () = ()'
  File "user.ml", line 1, characters 9-11:
  Error: let%lazy can bind only variables. Match where you force the value
  $ compile 'let f () = let%lazy x = 1 and (y, z) = 2 in x'
  File "user.ml", line 1, characters 30-36:
  Error: let%lazy can bind only variables. Match where you force the value
  $ compile 'let%lazy rec x = 1 and (y as z) = 2'
  File "user.ml", line 1, characters 23-31:
  Error: let%lazy can bind only variables. Match where you force the value
  $ compile 'let%lazy x : '"'"'a. '"'"'a list = []'
  File "user.ml", line 1, characters 13-24:
  Error: let%lazy can't bind a polymorphic value. Remove the quantifiers
  $ compile 'let%lazy x : type a. a list = []'
  File "user.ml", line 1, characters 18-19:
  Error: let%lazy can't bind a polymorphic value. Remove the quantifiers
  $ compile 'let%lazy (_ : int) = 1'
  File "user.ml", line 1, characters 10-11:
  Error: let%lazy can bind only variables. Match where you force the value

The other bindings are lazy values all the same, for the sake of editors:

  $ echo 'let%lazy x = f 1 and _ = 2' >user.ml; ./pp.exe -impl user.ml
  let x = Ppx_concord_runtime.from_fun (fun () -> f 1)
  and _ =
    [%ocaml.error
      "let%lazy can bind only variables. Match where you force the value"]

Errors of types and warnings are where the user's code is:

  $ compile 'let x = 1 + [%lazy 1]'
  File "user.ml", line 1, characters 12-21:
  $ compile 'let x = 1 + [%lazy print_int 1]'
  File "user.ml", line 1, characters 12-31:
  $ compile 'let x = [%lazy 1 + true]'
  File "user.ml", line 1, characters 19-23:
  $ compile 'let%lazy x : int = true'
  File "user.ml", line 1, characters 19-23:
  $ compile 'let%lazy x = 1 let y = x + 1'
  File "user.ml", line 1, characters 23-24:
  $ compile 'let%lazy x = unbound ()'
  File "user.ml", line 1, characters 13-20:
  Error: Unbound value unbound
  $ compile 'let%lazy x : unbound = 1'
  File "user.ml", line 1, characters 13-20:
  Error: Unbound type constructor unbound
  $ compile 'let%lazy rec x : int = x'
  File "user.ml", line 1, characters 23-24:
  $ compile 'let%lazy rec x : unbound = Concord.Lazy.force x'
  File "user.ml", line 1, characters 17-24:
  Error: Unbound type constructor unbound
  $ compile 'let%lazy rec x = 1 + Concord.Lazy.force y and y = not (Concord.Lazy.force x)'
  File "user.ml", line 1, characters 54-76:
  $ compile 'let f () = let%lazy x = 1 in ()'
  File "user.ml", line 1, characters 20-21:
  Warning 26
  $ compile 'let f () = let%lazy rec x = Concord.Lazy.force y and y = 1 in x'
  [1]
  $ compile 'let f () = let%lazy rec x = Concord.Lazy.force x + 1 in ()'
  File "user.ml", line 1, characters 24-25:
  Warning 26
  $ compile 'module M : sig end = struct let%lazy rec x = Concord.Lazy.force y and y = 1 end'
  File "user.ml", line 1, characters 41-42:
  Warning 32
  $ compile 'module M : sig end = struct let%lazy x = 1 end'
  File "user.ml", line 1, characters 37-38:
  Warning 32
  $ compile 'let%lazy x = match Some 1 with None -> 1 [@@warning "-8"]'
  [1]
  $ compile 'let%lazy rec x : int option = match Concord.Lazy.force x with Some _ -> None [@@warning "-8"]'
  [1]
  $ compile 'let f () = let%lazy rec x = 1 in x'
  File "user.ml", line 1, characters 24-25:
  Warning 39
  $ compile 'let%lazy rec x = 1'
  File "user.ml", line 1, characters 13-14:
  Warning 39
  $ compile 'let%lazy x = 1 and x = 2'
  File "user.ml", line 1, characters 19-20:
  $ compile 'let%lazy rec x = Concord.Lazy.force x and x = 2'
  File "user.ml", line 1, characters 42-43:

Types are as they would be written, no other name is defined, and a type that is
written is known in the computation:

  $ types () { compile "$1" -i; }

  $ types 'let%lazy x = print_int 1 let%lazy y = Some x'
  val x : unit Concord.Lazy.t
  val y : unit Concord.Lazy.t option Concord.Lazy.t
  $ types 'let%lazy rec x = Concord.Lazy.force y + 1 and y = Concord.Lazy.force x'
  val x : int Concord.Lazy.t
  val y : int Concord.Lazy.t
  $ types 'module M = struct type t = { a : int } end
  > let%lazy rec x : M.t = { a = (Concord.Lazy.force x).a }'
  val x : M.t Concord.Lazy.t
  $ types 'type t = T of t Concord.Lazy.t let%lazy rec x = T x'
  val x : t Concord.Lazy.t

A lazy value is not polymorphic:

  $ types 'let%lazy x = []'
  val x : '_weak1 list Concord.Lazy.t
  $ types 'let%lazy x = [] let y = 1 :: Concord.Lazy.force x'
  val x : int list Concord.Lazy.t
  val y : int list

Whatever has been hidden:

  $ compile 'module Concord = struct end type unit = () let%lazy rec x = ignore x, unbound'
  File "user.ml", line 1, characters 28-42:
  Warning 65
  File "user.ml", line 1, characters 70-77:
  Error: Unbound value unbound

A whole file. What cannot be forced is refused where it stands:

  $ keyword() { compile "[@@@concord.lazy] $1" "${2--c}"; }
  $ keyword 'let f = function lazy 0, _ | _, lazy 0 when true -> 1 | _ -> 2'
  [1]
  $ keyword 'let f (lazy x) ?(y = x) () = x + y'
  File "user.ml", line 1, characters 39-40:
  Error: lazy: this default can't use variables of a lazy pattern, or of a
  $ keyword 'class c (lazy x) = object method x : int = x end'
  File "user.ml", line 1, characters 26-34:
  Error: lazy: a lazy pattern can't be used here. Use a match expression
  $ keyword 'class c = let lazy x = lazy 1 in object method x : int = x end'
  File "user.ml", line 1, characters 32-38:
  Error: lazy: a lazy pattern can't be used here. Use a match expression
  $ keyword 'let rec (lazy x) = lazy 1 and y = 2'
  File "user.ml", line 1, characters 26-34:
  Error: lazy: a lazy pattern can't be used here. Use a match expression
  $ echo '[@@@concord.lazy] let f = function%other lazy x -> x' >user.ml; ./pp.exe -impl user.ml
  let f =
    [%other
      function
      | view__001_ ->
          (match Ppx_concord_runtime.force view__001_ with | x -> x)]
  $ echo '[@@@concord.lazy] let f = match%other e with lazy 0 -> 1 | _ -> 2' >user.ml; ./pp.exe -impl user.ml
  let f =
    [%other
      match e with
      | view__001_ when
          ((match Ppx_concord_runtime.force view__001_ with
            | 0 -> true
            | _ -> false)
          [@ocaml.warning "-4-11"]) ->
          (((match Ppx_concord_runtime.force view__001_ with
             | 0 -> 1
             | _ -> (((match false with | true -> assert false))
                 [@ocaml.warning "-8"])))
          [@ocaml.warning "-4-11"])
      | _ -> 2]
  $ echo '[@@@concord.lazy] let f = let%other lazy x = e in x' >user.ml; ./pp.exe -impl user.ml
  let f =
    [%other
      let view__001_ = e in let x = Ppx_concord_runtime.force view__001_ in x]

The compiler says of cases what it says elsewhere:

  $ keyword 'let f = function lazy 0 -> 0 | lazy n -> n'
  [1]
  $ keyword 'let f l = match l with lazy (Some x) -> x'
  File "user.ml", line 1, characters 28-59:
  Warning 8
  $ keyword 'let f l = match l with lazy (Some x) -> x | lazy None -> 0 | lazy _ -> 1'
  File "user.ml", line 1, characters 84-85:
  Warning 11
  $ keyword 'let f = function Some (lazy (x, y)) -> x + y'
  File "user.ml", line 1, characters 26-62:
  Warning 8
  $ keyword 'let f = function Some (lazy x) -> x | None -> 0'
  [1]
  $ keyword 'let f = function Some (lazy x) when x > 0 -> x | Some _ | None -> 0'
  [1]
  $ keyword 'let f = function Some (lazy x) when x > 0 -> 1 | Some (lazy 0) -> 2 | Some _ | None -> 0'
  [1]
  $ keyword 'let f (lazy x) (lazy y) = x'
  File "user.ml", line 1, characters 39-40:
  Warning 27
  $ keyword 'let f l = let lazy x = l and lazy y = l in y'
  File "user.ml", line 1, characters 37-38:
  Warning 26
  $ keyword 'let f = function Some (lazy (Some x)) -> 1 | _ -> 0'
  File "user.ml", line 1, characters 52-53:
  Warning 27
  $ keyword 'let rec f = fun x -> lazy x'
  File "user.ml", line 1, characters 26-27:
  Warning 39
  $ keyword 'let rec x = lazy (1 + Concord.Lazy.force x)'
  [1]
  $ keyword 'type t = T of t Concord.Lazy.t let rec x = T (lazy x)'
  [1]
  $ keyword 'module M = struct type t = A of int Concord.Lazy.t | B end let f = function M.(A (lazy 0)) -> 0 | M.A _ | M.B -> 1'
  File "user.ml", line 1, characters 85-132:
  Warning 4

But not if what is below another pattern decides:

  $ keyword 'let f = function Some (lazy 0) -> 0 | None -> 1'
  [1]

Types, and what is not in the file:

  $ types '[@@@concord.lazy] let rec x = lazy (1 + Concord.Lazy.force x) let lazy y = x let f (lazy z) = z + y'
  val x : int Concord.Lazy.t
  val y : int
  val f : int Concord.Lazy.t -> int
  $ types 'let x = lazy 1 module M = struct [@@@concord.lazy] let y = lazy 1 end let y = M.y let z = lazy 1'
  val x : int lazy_t
  val y : int Concord.Lazy.t
  val z : int lazy_t
  $ printf 'let x = lazy y' >user.ml; ./pp.exe -concord-lazy -impl user.ml
  let x = Ppx_concord_runtime.from_val y
