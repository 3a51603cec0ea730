type t = {
  mutable in_vain : int;  (** How many looks in a row were in vain. *)
  mutable to_skip : int;  (** How many waits are still to pass without one. *)
}

let max_looks = if Domain.recommended_domain_count () > 1 then 1000 else 0
let max_in_vain = 6
let create () = { in_vain = 0; to_skip = 0 }
let never t = t.to_skip <- max_int

let rec look ready n =
  ready ()
  || n > 0
     && begin
       Domain.cpu_relax ();
       look ready (n - 1)
     end

let until t ready =
  if t.to_skip > 0 then begin
    t.to_skip <- t.to_skip - 1;
    false
  end
  else if look ready max_looks then begin
    t.in_vain <- 0;
    true
  end
  else begin
    t.in_vain <- Int.min max_in_vain (t.in_vain + 1);
    t.to_skip <- (1 lsl t.in_vain) - 1;
    false
  end
