let quartiles values =
  let sorted = Array.copy values in
  Array.sort Float.compare sorted;
  let at fraction =
    let position = fraction *. float_of_int (Array.length sorted - 1) in
    let below = int_of_float position in
    let above = min (below + 1) (Array.length sorted - 1) in
    let part = position -. float_of_int below in
    sorted.(below) +. (part *. (sorted.(above) -. sorted.(below)))
  in
  (at 0.25, at 0.5, at 0.75)

let median values =
  let _, median, _ = quartiles values in
  median

let spread values =
  let first, median, third = quartiles values in
  (third -. first) /. median

let pairs f a b =
  Array.init (min (Array.length a) (Array.length b)) (fun i -> f a.(i) b.(i))

(* If samples are normally distributed with standard deviation s, the standard error of their
   median is 1.253 s / sqrt n, and their quartiles are 1.349 s apart. *)
let of_quartiles = 1.253 /. 1.349

let error values =
  of_quartiles *. spread values /. sqrt (float_of_int (Array.length values))
