(* Uses the nearest rank, so a percentile is always one of the measurements. *)

let of_list xs =
  let sorted = Array.of_list xs in
  Array.sort Float.compare sorted;
  let count = Array.length sorted in
  fun p ->
    if count = 0 then nan
    else
      let rank = int_of_float (Float.ceil (p *. float count)) in
      sorted.(max 0 (min (count - 1) (rank - 1)))
