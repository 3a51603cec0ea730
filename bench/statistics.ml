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

(* Student's t for 95 %, by the number of samples. The series for more of them is off by less
   than 0.01. *)
let of_few = [| 12.71; 4.303; 3.182; 2.776; 2.571; 2.447; 2.365; 2.306; 2.262 |]

let student samples =
  if samples < 2 then infinity
  else if samples - 2 < Array.length of_few then of_few.(samples - 2)
  else
    let freedom = float_of_int (samples - 1) in
    1.96 +. (2.372 /. freedom) +. (2.823 /. (freedom *. freedom))

let interval ~samples (first, median, third) =
  let spread = Float.log (third /. first) in
  if spread = 0. then (median, median)
  else
    let reach =
      student samples *. of_quartiles *. spread /. sqrt (float_of_int samples)
    in
    (median *. Float.exp (-.reach), median *. Float.exp reach)

let error values =
  of_quartiles *. spread values /. sqrt (float_of_int (Array.length values))
