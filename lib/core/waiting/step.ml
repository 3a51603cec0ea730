type ('s, 'r) t =
  | Wait
  | Raise of exn
  | Return of 's * 'r
  | Become of 's * ('s, 'r) next
  | Hand_over : {
      state : 's;
      waiter : ('x, 'a) Waiter.t;
      outcome : ('a, exn) result;
      accepted : ('s, 'r) next;
      refused : ('s, 'r) next;
    }
      -> ('s, 'r) t

and ('s, 'r) next =
  | Done of 'r
  | Again
  | Then of ('s -> ('s, 'r) t)
  | At :
      'u Atomic.t * ('u -> ('u, 'v) t) * ('v -> ('s, 'r) next)
      -> ('s, 'r) next
  | Resume :
      ('x, 'a) Waiter.t * ('a, exn) result * (bool -> ('s, 'r) next)
      -> ('s, 'r) next

let finished = Done ()

let[@inline] to_first waiters outcome state result =
  let waiter = Waiters.head waiters and accepted = Done result in
  Hand_over { state; waiter; outcome; accepted; refused = Again }

(* A cancelled task that is not unwound yet counts as resumed, although its waiter refuses. *)
let counts w = Waiter.is_live w && not (Waiter.is_alternative w)

let rec resume_each waiters outcome resumed next =
  match waiters with
  | [] -> next resumed
  | w :: others ->
      let waits = counts w in
      let answered accepted =
        let resumed = if accepted || waits then resumed + 1 else resumed in
        resume_each others outcome resumed next
      in
      Resume (w, outcome, answered)

let resume_and_count waiters outcome next =
  resume_each (Waiters.to_list waiters) outcome 0 next

let resume_all waiters outcome next =
  resume_and_count waiters outcome (fun _ -> next)

(* --- What the driver owes ------------------------------------------------------

   A signal handler runs where something is allocated, at the beginning of a loop's turn, and
   at the entry of some functions. It may raise there. A resumer may also raise after its
   decision. So the driver records what it owes, and follows one rule:

   When other tasks can see a change, the driver must record what follows from the change.
   Before it has recorded that, it allocates nothing, and calls nothing but a resumer.

   So [next] is right at every moment, and after an exception the driver continues from there.

   [chain], of one word

   next                 becomes                         after
   Again, Then step     the [next] of the step          the commit of the step's state, and the
                                                        answer of the waiter, if there is one
   At (word', step, k)  k v                             the end of the chain of word', Done v
   Resume (w, o, k)     k answer                        the answer of w, which is in [answer]
                                                        until then
   Done v               k v, in the outer chain. The first chain ends with the result v. *)
type ('s, 'v, 'r) chain = {
  word : 's Atomic.t;
  mutable step : 's -> ('s, 'v) t;  (** The step that [Again] calls. *)
  mutable next : ('s, 'v) next;
  outer : ('v, 'r) outer;
}

and ('v, 'r) outer =
  | First : ('r, 'r) outer
  | Within : ('s, 'w, 'r) chain * ('v -> ('s, 'w) next) -> ('v, 'r) outer

type 'r innermost = Innermost : ('s, 'v, 'r) chain -> 'r innermost [@@unboxed]
type answer = Unknown | Yes | No

type 'r owed = {
  mutable chain : 'r innermost;  (** The chain that continues. *)
  mutable raised : exn;
      (** The exception that was raised first, or {!Nothing}. *)
  mutable backtrace : Printexc.raw_backtrace;
  mutable tries : int;  (** The number of exceptions since the last change. *)
  mutable answer : answer;  (** The answer of the waiter of {!Resume}. *)
}

exception Nothing

let no_backtrace = Printexc.get_callstack 0

let owe chain =
  {
    chain = Innermost chain;
    raised = Nothing;
    backtrace = no_backtrace;
    tries = 0;
    answer = Unknown;
  }

(* No signal handler runs in here, because only code of the runtime allocates. *)
let note owed e =
  if owed.raised == Nothing then begin
    owed.raised <- e;
    owed.backtrace <- Printexc.get_raw_backtrace ()
  end

(* If a resumer raises, it has decided (H2). *)
let[@inline] resume owed waiter outcome =
  match Waiter.resume waiter outcome with
  | accepted -> accepted
  | exception e ->
      note owed e;
      true

(* If the state is the same, nothing is written. *)
let[@inline] commit word before after =
  after == before || Atomic.compare_and_set word before after

let must_not_wait () =
  invalid_arg "Step: a step returned Wait or Raise where it must not"

let[@inline] follow owed chain next =
  chain.next <- next;
  owed.tries <- 0;
  true

(* Calls the step of the chain until a commit succeeds, that is, until no other task changes
   the word first. Returns [false] if the step has to wait, or raises. *)
let rec step_on owed chain pauses =
  let before = Atomic.get chain.word in
  match chain.step before with
  | Return (after, result) ->
      let next = Done result in
      (commit chain.word before after && follow owed chain next)
      || step_on owed chain (Atomically.back_off pauses)
  | Become (after, next) ->
      (commit chain.word before after && follow owed chain next)
      || step_on owed chain (Atomically.back_off pauses)
  | Hand_over { state; waiter; outcome; accepted; refused } ->
      commit chain.word before state
      && follow owed chain
           (if resume owed waiter outcome then accepted else refused)
      || step_on owed chain (Atomically.back_off pauses)
  | Wait -> false
  | Raise e ->
      note owed e;
      false

(* Returns [None] if the first chain has to wait, or has raised. *)
let rec go : type r. r owed -> r option =
 fun owed ->
  let (Innermost chain) = owed.chain in
  match chain.next with
  | Again -> go_step owed chain
  | Then step ->
      chain.step <- step;
      go_step owed chain
  | Resume (waiter, outcome, continue) ->
      if owed.answer = Unknown then begin
        owed.answer <- (if resume owed waiter outcome then Yes else No);
        owed.tries <- 0
      end;
      let next = continue (owed.answer = Yes) in
      chain.next <- next;
      owed.answer <- Unknown;
      go owed
  | At (word, step, continue) ->
      let outer = Within (chain, continue) in
      let chain = { word; step; next = Again; outer } in
      owed.chain <- Innermost chain;
      go_step owed chain
  | Done result -> (
      match chain.outer with
      | First -> Some result
      | Within (outer, continue) -> (
          match (continue result, outer.outer) with
          | Done result, First -> (* nothing else is owed *) Some result
          | next, _ ->
              outer.next <- next;
              owed.chain <- Innermost outer;
              go owed))

and go_step : type s v r. r owed -> (s, v, r) chain -> r option =
 fun owed chain ->
  if step_on owed chain Atomically.first_pauses then go owed
  else match chain.outer with First -> None | Within _ -> must_not_wait ()

(* So many exceptions in a row within one step can't be those of signal handlers. The step
   itself raises, which is a fault of the structure. An exception is better than an endless
   loop. *)
let limit = 10_000

(* The recursive call must not be a tail call. Otherwise the compiler would put a poll before
   it, where the exception handler no longer covers it. *)
let rec go_on owed =
  match go owed with
  | result -> result
  | exception e ->
      note owed e;
      if owed.tries = limit then raise e;
      owed.tries <- owed.tries + 1;
      Sys.opaque_identity (go_on owed)
[@@inline never]

let raise_noted owed =
  if owed.raised != Nothing then
    Printexc.raise_with_backtrace owed.raised owed.backtrace

let[@inline never] settle owed =
  let result = go_on owed in
  raise_noted owed;
  result

let pay owed = match settle owed with Some r -> r | None -> must_not_wait ()
let never _ = must_not_wait ()

(* [step x] is made only if it may be needed, because most chains begin with their own step. *)
let[@inline] chain word next step x =
  let step =
    match next with Then step -> step | Done _ -> never | _ -> step x
  in
  { word; step; next; outer = First }

let owing word = function
  | Then step -> owe { word; step; next = Again; outer = First }
  | next -> owe { word; step = never; next; outer = First }

(* --- Performing a step -------------------------------------------------------- *)

let rec surely_owed word step x =
  match owe { word; step = step x; next = Again; outer = First } with
  | owed -> pay owed
  | exception e -> Sys.opaque_identity (surely_then_raise word step x e)
[@@inline never]

(* [e] came before any exception that is raised here, so [e] is raised. *)
and[@inline never] surely_then_raise word step x e =
  let backtrace = Printexc.get_raw_backtrace () in
  (match surely_owed word step x with _ -> () | exception _ -> ());
  Printexc.raise_with_backtrace e backtrace

(* The state was [before]. If this commit succeeds, [next] follows. *)
let[@inline never] surely_then word step x before after next =
  match owe (chain word next step x) with
  | owed when commit word before after -> pay owed
  | _ -> Sys.opaque_identity (surely_owed word step x)
  | exception e -> Sys.opaque_identity (surely_then_raise word step x e)

let follow step state = step state

(* What follows a hand-over is mostly one commit. Until then all of it is owed, from the change
   on, so this function neither begins with a poll nor allocates before. *)
let[@inline never] hand_over word waiter outcome yes no =
  match Waiter.resume waiter outcome with
  | exception e -> Some (surely_then_raise word follow yes e)
  | accepted -> (
      let step = if accepted then yes else no in
      let before = Atomic.get word in
      match step before with
      | Return (after, result) when commit word before after -> Some result
      | exception e -> Some (surely_then_raise word follow step e)
      | _ -> Some (surely_owed word follow step))

(* Mostly one commit is the whole operation. Until that commit, the whole operation is owed. *)
let[@inline never] surely_at_once word step x =
  let before = Atomic.get word in
  match step x before with
  | Return (after, result) when commit word before after -> result
  | Hand_over
      { state; waiter; outcome; accepted = Done result; refused = Again }
    when commit word before state && Waiter.resume waiter outcome ->
      result
  | Become (after, next) ->
      Sys.opaque_identity (surely_then word step x before after next)
  | Wait | Raise _ | Return _ | Hand_over _ ->
      Sys.opaque_identity (surely_owed word step x)
  | exception e -> Sys.opaque_identity (surely_then_raise word step x e)

let rec attempt_again : type s x r.
    s Atomic.t -> (x -> s -> (s, r) t) -> x -> int -> r option =
 fun word step x pauses ->
  let before = Atomic.get word in
  match step x before with
  | Wait -> None
  | Raise e ->
      Observer.raises e word;
      raise e
  | Return (after, result) ->
      let result = Some result in
      if commit word before after then result
      else (* another task changed the word first *)
        attempt_again word step x (Atomically.back_off pauses)
  | Hand_over
      { state; waiter; outcome; accepted = Done result; refused = Again } ->
      let result = Some result in
      if not (commit word before state) then
        (* another task changed the word first *)
        attempt_again word step x (Atomically.back_off pauses)
      else if Waiter.resume waiter outcome then result
      else (* the waiter refused, so nothing else has changed *)
        attempt_again word step x pauses
  | (Become _ | Hand_over _) as answer ->
      attempt_more word step x pauses before answer

(* Apart from [attempt_again], which needs little stack without this. *)
and attempt_more : type s x r.
    s Atomic.t -> (x -> s -> (s, r) t) -> x -> int -> s -> (s, r) t -> r option
    =
 fun word step x pauses before -> function
  | Become (after, next) ->
      (* the chain is allocated before the commit *)
      let owed = owe (chain word next step x) in
      if commit word before after then settle owed
      else (* another task changed the word first *)
        attempt_again word step x (Atomically.back_off pauses)
  | Hand_over { state; waiter; outcome; accepted = Then yes; refused = Then no }
    ->
      if commit word before state then hand_over word waiter outcome yes no
      else (* another task changed the word first *)
        attempt_again word step x (Atomically.back_off pauses)
  | _ -> settle (owe { word; step = step x; next = Again; outer = First })
[@@inline never]

let[@inline] attempt word step x =
  attempt_again word step x Atomically.first_pauses

let perform word step x =
  match attempt word step x with
  | Some result -> result
  | None -> must_not_wait ()

(* None of these functions ends in a call of another one, so none begins with a poll. At such a
   poll, a handler could raise before anything is recorded as owed. *)
let[@inline] surely word step x =
  Sys.opaque_identity (surely_at_once word step x)

let[@inline] give_back ~fast word step x =
  match fast word x with
  | true -> ()
  | false -> surely word step x
  | exception e ->
      (* A signal handler raised [e] before the fast path changed anything. *)
      Sys.opaque_identity (surely_then_raise word step x e)

let[@inline] within ~fast word step x f =
  match f () with
  | v ->
      if not (fast word x) then surely word step x;
      v
  | exception e ->
      let backtrace = Backtrace.get () in
      if not (fast word x) then surely word step x;
      Printexc.raise_with_backtrace e backtrace

let[@inline] replacing ~fast word step f old =
  match f old with
  | v, result ->
      give_back ~fast word step v;
      result
  | exception e ->
      let backtrace = Backtrace.get () in
      give_back ~fast word step old;
      Printexc.raise_with_backtrace e backtrace

(* --- Waiting -------------------------------------------------------------------- *)

type ('s, 'x, 'a) queue =
  (('x, 'a) Waiters.t -> ('x, 'a) Waiter.t -> ('x, 'a) Waiters.t) ->
  ('x, 'a) Waiter.t ->
  's ->
  's

let count_withdrawn waiters (_ : _ Waiter.t) = Waiters.count_withdrawn waiters

(* Would [w] have to wait? A withdrawn waiter refuses, and so does an alternative of the same
   choice, which can't meet itself. So the step is asked again for the state without these.
   Nothing is committed. *)
let rec must_wait : type s x r.
    (x -> s -> (s, r) t) -> (x, _) Waiter.t -> s -> bool =
 fun step w state ->
  match step w.arg state with
  | Wait -> true
  | Hand_over { state; waiter; refused = Again; _ } ->
      Waiter.will_refuse waiter ~to_:w && must_wait step w state
  | Raise _ | Return _ | Become _ | Hand_over _ -> false

let rec enlist word step (queue : _ queue) (w : _ Waiter.t) =
  let before = Atomic.get word in
  must_wait step w before
  &&
  let after = queue Waiters.push w before in
  Atomic.compare_and_set word before after
  ||
  (* another task changed the word first *)
  enlist word step queue w

let rec leave word w f =
  let before = Atomic.get word in
  let after = f before in
  if after == before || Atomic.compare_and_set word before after then
    (* No signal handler runs in between, so the waiter is counted once. *)
    Waiter.mark_withdrawn w
  else (* another task changed the word first *) leave word w f

let withdraw_by word step (w : _ Waiter.t) =
  match surely word step w with
  | () -> Waiter.mark_withdrawn w
  | exception e ->
      Waiter.mark_withdrawn w;
      raise e

let leave_then next word (queue : _ queue) w =
  let step w state = Become (queue count_withdrawn w state, next) in
  withdraw_by word step w

(* The same as [leave], without a closure. *)
let rec leave_queue word (queue : _ queue) w =
  let before = Atomic.get word in
  let after = queue count_withdrawn w before in
  if after == before || Atomic.compare_and_set word before after then
    Waiter.mark_withdrawn w
  else (* another task changed the word first *) leave_queue word queue w

let withdraw word (queue : _ queue) left (w : _ Waiter.t) =
  match left with
  | Done () -> leave_queue word queue w
  | next -> leave_then next word queue w
