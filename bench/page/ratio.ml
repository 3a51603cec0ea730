type t = float * float * float

(* Distances of ratios are quotients, so that twice as fast is as far from 1 as half as
   fast. *)
let exceeds_its_effect (first, median, third) =
  Float.log (third /. first) > Float.abs (Float.log median)

let text ((first, median, third) as t) =
  let turned = median < 1. in
  let x, low, high =
    if turned then (1. /. median, 1. /. third, 1. /. first)
    else (median, first, third)
  in
  let quartiles =
    if Float.is_finite high then Printf.sprintf " [%.2f %.2f]" low high else ""
  in
  Printf.sprintf "%.2fx %s%s%s" x
    (if turned then "worse" else "better")
    quartiles
    (if exceeds_its_effect t then " ~" else "")

let figure x =
  let digits =
    if x = 0. || Float.abs x >= 100. then 0
    else if Float.abs x >= 10. then 1
    else 2
  in
  Printf.sprintf "%.*f" digits x
