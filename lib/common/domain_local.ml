type 'a found = Nothing | Found of { domain : int; value : 'a }
type 'a own = { value : 'a; mutable is_forgotten_at_exit : bool }

(* An entry of the table. Domains whose numbers differ by a multiple of [places] share it.

   State     Left by            To              By whom
   Nothing   [find]             Found of its    any domain that shares the entry
   Found d   [find]             Found of its    another domain that shares the entry
             [forget_at_exit]   Nothing         the domain d, when it ends

   A [found] is immutable and says whose it is, so nothing is owed after a step. If two
   domains store at once, the one whose store is lost calls [find] once more. *)
type 'a entry = 'a found Atomic.t
type 'a t = { key : 'a own Domain.DLS.key; table : 'a entry array }

let places = 64

let make create =
  let create () = { value = create (); is_forgotten_at_exit = false } in
  {
    key = Domain.DLS.new_key create;
    table = Array.init places (fun _ -> Atomic.make Nothing);
  }

(* The index is less than [places], the length of every table. *)
let[@inline] entry t domain = Array.unsafe_get t.table (domain land (places - 1))

let forget t this =
  let entry = entry t this in
  match Atomic.get entry with
  | Found { domain; _ } when domain = this -> Atomic.set entry Nothing
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
  Atomic.set (entry t domain) (Found { domain; value = own.value });
  own.value

let[@inline] get t =
  let this = (Domain.self () :> int) in
  match Atomic.get (entry t this) with
  | Found { domain; value } when domain = this -> value
  | Found _ | Nothing -> find t
