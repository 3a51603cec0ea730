(* A semaphore is a {!Permits} with as many permits as its user wants. [Permits] has the table
   of states, and decides the order in which tasks are served. *)
type t = Permits.t

let one = Permits.request 1
let kind = "semaphore"

(* The capacity is known if holders were known when the semaphore was made. A program may
   release more than that. *)
let figures t =
  let s = Atomic.get t in
  let { Permits.capacity; _ } = Permits.rare_of s in
  if capacity < 0 then []
  else
    let used = Int.max 0 (capacity - Permits.free_of s) in
    [ Observer.Used used; Limit capacity ]

let made ?in_order n =
  let capacity = if Holders.are_known () then Some n else None in
  Observer.made ~kind ~figures (Permits.make ?in_order ?capacity n)

let make n = made n
let make_in_order n = made ~in_order:true n

(* --- Steps ---------------------------------------------------------------- *)

let overflow = Sys_error "Semaphore.Counting.release: overflow"
let overflow_n = Sys_error "Semaphore.Counting.release_n: overflow"

let release_counting () (s : Permits.state) : _ Step.t =
  if Permits.free_of s = Permits.all then Raise overflow else Permits.give one s

(* Unbroken, because the permits have to be released. So the step itself makes the request,
   and not the caller before. *)
let release_several n (s : Permits.state) : _ Step.t =
  if n > Permits.all - Permits.free_of s then Raise overflow_n
  else Permits.give (Permits.request n) s

let release_binary () (s : Permits.state) : _ Step.t =
  if Permits.free_of s > 0 then Return (s, ()) else Permits.give one s

(* For a bracket whose task is known. *)
let release_held request (s : Permits.state) : _ Step.t =
  if request.Permits.amount > Permits.all - Permits.free_of s then
    Raise overflow_n
  else Permits.give request s

(* If another task has released meanwhile, it has removed this holder too. *)
let release_held_binary request (s : Permits.state) : _ Step.t =
  if Permits.free_of s > 0 then Return (s, ()) else Permits.give request s

(* --- The waiters and the holders ------------------------------------------ *)

(* A bracket is one holder, even with several permits. Only brackets have holders, because any
   task may release what another one has acquired. The other permits have holders that aren't
   known, so there is no cycle while one is out. *)
let holders t =
  let s = Atomic.get t in
  let rare = Permits.rare_of s in
  if List.is_empty rare.known then []
  else
    let without_further count (holder : Holders.t) =
      match (holder :> Holder.t option) with
      | Some { ends = Alone n; _ } -> count - (n - 1)
      | Some { ends = With_others | Perhaps; _ } | None -> count
    in
    let taken = rare.capacity - Permits.free_of s in
    let count = List.fold_left without_further taken rare.known in
    Holders.all ~count rare.known

let permits t =
  Printf.sprintf "%d permits left" (Permits.free_of (Atomic.get t))

let acquiring_by name =
  Permits.waiting Fun.id
    { Operation.default with name; state = permits; spin = Before; holders }

let acquiring = acquiring_by "Semaphore.Counting.acquire"
let acquiring_several = acquiring_by "Semaphore.Counting.acquire_n"

(* A task may have released the semaphore since, so the permit that comes back may be the
   second one. *)
let acquiring_binary =
  let acquiring = acquiring_by "Semaphore.Binary.acquire" in
  let undo t (_ : Permits.request) () =
    Step.surely t release_binary ();
    true
  in
  { acquiring with operation = { acquiring.operation with undo } }

(* --- Operations ----------------------------------------------------------- *)

(* The fast path of a release. A state that is physically equal to a constant of {!Permits} has
   no waiters, so a compare-and-set to the next constant is the whole operation. It returns
   [false] if the state is another one, and has then done nothing. *)
let[@inline] released_now t =
  let s = Atomic.get t in
  let n = Permits.free_of s in
  n < Permits.few
  && s == Permits.few_free n
  && Atomic.compare_and_set t s (Permits.few_free (n + 1))

let[@inline never] acquire_slowly t =
  Option.is_some (Step.attempt t Permits.take one)

let[@inline] try_acquire t =
  let s = Atomic.get t in
  let n = Permits.free_of s in
  n > 0
  && (n <= Permits.few
      && s == Permits.few_free n
      && Atomic.compare_and_set t s (Permits.few_free (n - 1))
     || acquire_slowly t)

let attempt_several t request =
  Option.is_some (Step.attempt t Permits.take request)

let never_fast _ _ = false

(* Unbroken after the wait, as [acquire]. *)
let acquire_known waiting t (request : Permits.request) =
  if not (attempt_several t request) then begin
    Holders.waits request.owner;
    Nudge.wait waiting t request;
    Holders.taken request.owner
  end

let known_within t n bracket f =
  Holding.within ~kind ~ends:(Alone n) t
    (fun owner f -> bracket { (Permits.request n) with owner } f)
    f

let[@inline never] with_known waiting release t n f =
  let bracket request f =
    acquire_known waiting t request;
    Step.within ~fast:never_fast t release request f
  in
  known_within t n bracket f

let[@inline never] try_with_known release t n f =
  let bracket request f =
    if attempt_several t request then
      Some (Step.within ~fast:never_fast t release request f)
    else None
  in
  known_within t n bracket f

(* The capacity says whether all permits are in brackets that are known. *)
let are_holders_known t =
  Holders.are_known () && (Permits.rare_of (Atomic.get t)).capacity >= 0

(* For a bracket, while holders matter. *)
let[@inline never] with_noted waiting release t n ~otherwise f =
  if are_holders_known t then with_known waiting release t n f
  else begin
    ignore (Holders.taker () : Holders.t);
    otherwise t n f
  end

module Counting = struct
  type nonrec t = t

  let[@inline] check name n =
    if n < 0 then
      invalid_arg
        (Printf.sprintf
           "Semaphore.Counting.%s: the number of permits is %d, but must not \
            be negative"
           name n)

  let checked f n =
    check "make" n;
    f n

  let make n = checked make n
  let make_in_order n = checked make_in_order n
  let try_acquire t = try_acquire t
  let acquire t = if not (try_acquire t) then Nudge.wait acquiring t one
  let acquire_evt t = Event.make acquiring.operation t one
  let[@inline] released t () = released_now t
  let release t = if not (released t ()) then Step.surely t release_counting ()

  let[@inline] plainly_with_permit t (_ : int) f =
    acquire t;
    Step.within ~fast:released t release_counting () f

  let with_permit t f =
    if Observer.looks_at_takers () then
      with_noted acquiring release_held t 1 ~otherwise:plainly_with_permit f
    else plainly_with_permit t 1 f

  let try_with_permit t f =
    if are_holders_known t then try_with_known release_held t 1 f
    else if try_acquire t then
      Some (Step.within ~fast:released t release_counting () f)
    else None

  let[@inline] request name n =
    check name n;
    Permits.request n

  let try_acquire_n t n = attempt_several t (request "try_acquire_n" n)

  let[@inline] acquire_as name t n =
    let request = request name n in
    if not (attempt_several t request) then
      Nudge.wait acquiring_several t request

  let acquire_n t n = acquire_as "acquire_n" t n

  let acquire_n_evt t n =
    Event.make acquiring_several.operation t (request "acquire_n_evt" n)

  let release_n t n =
    check "release_n" n;
    Step.surely t release_several n

  let[@inline] plainly_with_permits t n f =
    acquire_as "with_permits" t n;
    Step.within ~fast:never_fast t release_several n f

  let with_permits t n f =
    check "with_permits" n;
    if Observer.looks_at_takers () then
      with_noted acquiring_several release_held t n
        ~otherwise:plainly_with_permits f
    else plainly_with_permits t n f

  let try_with_permits t n f =
    check "try_with_permits" n;
    if are_holders_known t then try_with_known release_held t n f
    else if attempt_several t (Permits.request n) then
      Some (Step.within ~fast:never_fast t release_several n f)
    else None

  let get_value t = Permits.free_of (Atomic.get t)
  let waiters = Permits.waiters
end

module Binary = struct
  type nonrec t = t

  let make available = make (Bool.to_int available)
  let make_in_order available = make_in_order (Bool.to_int available)
  let try_acquire t = try_acquire t
  let acquire t = if not (try_acquire t) then Nudge.wait acquiring_binary t one
  let acquire_evt t = Event.make acquiring_binary.operation t one
  let none = Permits.few_free 0
  let some = Permits.few_free 1
  let[@inline] released t () = Atomic.compare_and_set t none some
  let release t = if not (released t ()) then Step.surely t release_binary ()

  let[@inline] plainly_with_permit t (_ : int) f =
    acquire t;
    Step.within ~fast:released t release_binary () f

  let with_permit t f =
    if Observer.looks_at_takers () then
      with_noted acquiring_binary release_held_binary t 1
        ~otherwise:plainly_with_permit f
    else plainly_with_permit t 1 f

  let try_with_permit t f =
    if are_holders_known t then try_with_known release_held_binary t 1 f
    else if try_acquire t then
      Some (Step.within ~fast:released t release_binary () f)
    else None

  let waiters = Permits.waiters
end
