[@@@ocamlformat "disable"]

(* This file is only expanded, never compiled. *)

(* Computed when forced. *)
let call = [%lazy f x]
let variable = [%lazy x]
let field = [%lazy M.x]
let pair = [%lazy 1, 2]
let type_argument = [%lazy fun (type a) -> f x]
let suffix = [%lazy 1z]
let attribute = [%lazy (fun x -> x) [@attribute]]

(* Values. *)
let literals = ([%lazy 1], [%lazy 1L], [%lazy 1.], [%lazy 'a'], [%lazy "a"])
let constructors = ([%lazy ()], [%lazy []], [%lazy A], [%lazy `A])
let functions = ([%lazy fun ~x:_ -> f x], [%lazy function _ -> f x])
let typed = ([%lazy (1 : int)], [%lazy fun (type a) (x : a) -> f x])
let typed = ([%lazy fun (type a) -> fun (x : a) -> f x], [%lazy ([] :> t)])

(* Bindings. *)
let%lazy x = f 1 [@@attribute]
let%lazy x : int = f 1 and y :> t = f 2 and z : t :> u = f 3
let%lazy (x [@attribute]) = f 1
let%lazy f x = x

let local () =
  let%lazy x = f 1 and y = f 2 in
  (x, y)

(* A let in a lazy value, and the reverse. *)
let lazy_of_let = [%lazy let x = f 1 in x]
let lazy_of_let = ([%lazy (let x = f 1 in x)])
let let_of_lazy = let%lazy x = f 1 in x
let let_of_lazy = (let%lazy x = f 1 in x)
let let_of_lazy = let%lazy[@attribute] x = [%lazy let x = f 1 in x] in x
let let_of_lazy = (let%lazy x = f 1 in x) [@attribute]

(* Recursion. *)
let%lazy rec x = f x
let%lazy rec x : t = f y [@@attribute] and y = fun z -> f x and z = fun y -> y
let%lazy rec ( .%[] ) = f x and x = ( .%[] )
let%lazy rec x = [%other "x"]

let local () =
  let%lazy rec x = f x in
  x
