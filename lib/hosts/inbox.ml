(* [state]

   State        Left by  To                By whom
   Empty        post     Posted (x, s)     any thread
                sleep    Asleep bell       the owner
   Posted ...   post     Posted (x, s)     any thread
                take     Empty             the owner, which keeps them in [taken]
   Asleep bell  post     Posted (x, Empty) any thread, which then calls [bell]
                ring     Empty             any thread, which then calls [bell]
                wake     Empty             the owner

   [post] linearises at its compare-and-set. Messages are kept latest first; below
   the last one there is [Empty].

   The owner announces that it sleeps by the same atomic in which others post. So
   either it sees what was posted, and does not sleep; or whoever posts sees that it
   sleeps, and rings (H4). *)
type 'a state = Empty | Posted of 'a * 'a state | Asleep of (unit -> unit)

(* [taken], latest first, and [due], oldest first, are touched by the owner only:
   what was taken is older than what is posted, and what is due older than that. A
   signal handler may raise at any allocation, hence the two steps. *)
type 'a t = {
  state : 'a state Atomic.t;
  mutable taken : 'a state;
  mutable due : 'a list;
}

let create () = { state = Atomic.make Empty; taken = Empty; due = [] }

(* --- Posting -------------------------------------------------------------- *)

(* The bell is owed, whatever a signal handler raises. *)
let[@inline never] call bell =
  try bell ()
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    bell ();
    Printexc.raise_with_backtrace e backtrace

let rec post t x =
  match Atomic.get t.state with
  | Asleep bell as before ->
      let after = Posted (x, Empty) in
      if Atomic.compare_and_set t.state before after then call bell
      else (* another thread posted or rang, or the owner woke *) post t x
  | (Empty | Posted _) as before ->
      let after = Posted (x, before) in
      if not (Atomic.compare_and_set t.state before after) then
        (* another thread posted, or the owner took or fell asleep *)
        post t x

let rec ring_sleeper t =
  match Atomic.get t.state with
  | Empty | Posted _ -> ()
  | Asleep bell as before ->
      if Atomic.compare_and_set t.state before Empty then call bell
      else (* another thread posted or rang, or the owner woke *)
        ring_sleeper t

let[@inline] ring t =
  match Atomic.get t.state with
  | Empty | Posted _ -> ()
  | Asleep _ -> ring_sleeper t

(* --- Serving -------------------------------------------------------------- *)

let[@inline] is_posted t =
  match Atomic.get t.state with Empty | Asleep _ -> false | Posted _ -> true

let[@inline] is_empty t =
  (not (is_posted t)) && t.taken == Empty && List.is_empty t.due

(* No polling point lies between the two: what is taken is kept. *)
let[@inline] take t = t.taken <- Atomic.exchange t.state Empty

let rec oldest_first later = function
  | Empty | Asleep _ -> later
  | Posted (x, earlier) -> oldest_first (x :: later) earlier

let make_due t =
  if List.is_empty t.due then begin
    if t.taken == Empty && is_posted t then take t;
    if t.taken != Empty then begin
      let due = oldest_first [] t.taken in
      t.due <- due;
      t.taken <- Empty
    end
  end

(* [f] may call [serve], which goes on with the rest. *)
let rec serve_due t f =
  match t.due with
  | [] -> ()
  | x :: later ->
      t.due <- later;
      f x;
      serve_due t f

(* What an exception left is older than what is posted. *)
let serve t f =
  let were_left = not (List.is_empty t.due) in
  if were_left then serve_due t f;
  make_due t;
  if List.is_empty t.due then were_left
  else begin
    serve_due t f;
    true
  end

(* --- Sleeping ------------------------------------------------------------- *)

let sleep t bell =
  is_empty t && Atomic.compare_and_set t.state Empty (Asleep bell)

let rec wake t =
  match Atomic.get t.state with
  | Empty | Posted _ -> false
  | Asleep _ as before -> Atomic.compare_and_set t.state before Empty || wake t
