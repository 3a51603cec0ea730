type 'a t = Leaf | Node of 'a t * 'a * 'a t

let rec make n =
  if n <= 0 then Leaf
  else
    let half = make (n - 1) in
    Node (half, n, half)

let rec iter f = function
  | Leaf -> ()
  | Node (left, v, right) ->
      iter f left;
      f v;
      iter f right

module Gen = Generator.MkGen (struct
  type nonrec 'a t = 'a t

  let iter = iter
end)

let gen = Gen.gen
let to_generator t = Generator.of_iter (fun yield -> iter yield t)
let same_fringe eq a b = Generator.equal eq (to_generator a) (to_generator b)
