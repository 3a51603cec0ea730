(* Xorshift (Marsaglia, 2003), on a state of its own: the user's [Random] must not
   change because a task chose. Threads of a domain may lose each other's steps,
   which does no harm. *)
let key =
  Domain.DLS.new_key (fun () -> ref (0x9E3779B9 + (Domain.self () :> int)))

let below n =
  if n = 1 then 0
  else begin
    let state = Domain.DLS.get key in
    let x = !state in
    let x = x lxor (x lsl 13) in
    let x = x lxor (x lsr 7) in
    let x = x lxor (x lsl 17) in
    state := x;
    (* 31 bits of it as a fraction of [n]: a division takes as long as the rest *)
    ((x lsr 16) land 0x7fff_ffff * n) lsr 31
  end
