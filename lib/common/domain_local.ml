type 'a found = Nothing | Found of { domain : int; value : 'a }
type 'a own = { value : 'a; mutable is_forgotten_at_exit : bool }

(* The array is plain, although domains whose numbers differ by a multiple of [places]
   share a place, and evict each other: what is read there is some whole [found], which says
   whose it is. *)
type 'a t = { key : 'a own Domain.DLS.key; found : 'a found array }

let places = 64

let make create =
  let create () = { value = create (); is_forgotten_at_exit = false } in
  { key = Domain.DLS.new_key create; found = Array.make places Nothing }

let[@inline] place domain = domain land (places - 1)

let forget t this =
  match t.found.(place this) with
  | Found { domain; _ } when domain = this -> t.found.(place this) <- Nothing
  | Found _ | Nothing -> ()

(* The main domain ends with the program. *)
let forget_at_exit t own this =
  if not (own.is_forgotten_at_exit || Domain.is_main_domain ()) then begin
    own.is_forgotten_at_exit <- true;
    Domain.at_exit (fun () -> forget t this)
  end

let[@inline never] find t =
  let own = Domain.DLS.get t.key and domain = (Domain.self () :> int) in
  forget_at_exit t own domain;
  t.found.(place domain) <- Found { domain; value = own.value };
  own.value

let[@inline] get t =
  let this = (Domain.self () :> int) in
  match Array.unsafe_get t.found (place this) with
  | Found { domain; value } when domain = this -> value
  | Found _ | Nothing -> find t
