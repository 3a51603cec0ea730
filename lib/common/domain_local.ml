type 'a found = Nothing | Found of { domain : int; value : 'a }

(* The array is plain, although domains whose numbers differ by a multiple of [places]
   share a place, and evict each other: what is read there is some whole [found], which says
   whose it is. *)
type 'a t = { key : 'a Domain.DLS.key; found : 'a found array }

let places = 64

let make create =
  { key = Domain.DLS.new_key create; found = Array.make places Nothing }

let[@inline] place domain = domain land (places - 1)

let[@inline never] find t =
  let value = Domain.DLS.get t.key in
  let domain = (Domain.self () :> int) in
  t.found.(place domain) <- Found { domain; value };
  value

let[@inline] get t =
  let this = (Domain.self () :> int) in
  match Array.unsafe_get t.found (place this) with
  | Found { domain; value } when domain = this -> value
  | Found _ | Nothing -> find t
