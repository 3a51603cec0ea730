type 'b kind =
  | Plain
  | Last  (** It is enlisted after the others. *)
  | Once  (** A choice enlists it once for each structure. *)
  | Tentative of ('b -> bool)
      (** Says whether the operation was performed. The resumed task calls it.
      *)

(* The functions that are wrapped around an operation. *)
type (-'c, +'a) post =
  | Then of ('c -> 'a)
  | Handled of ((unit -> 'c) -> 'a)
      (** For functions that handle exceptions too. The argument returns the
          result of the operation, or raises its exception. *)

(* What follows an operation that was chosen. *)
type ('b, 'c, +'a) after = {
  finish : 'b -> 'c;  (** The rest of the operation itself. *)
  post : ('c, 'a) post;
  within : Aborts.t list;  (** The [wrap_abort]s around the operation. *)
  kind : 'b kind;
}

(* One operation of a choice. *)
type +'a alternative =
  | Alternative : {
      operation : ('t, 'x, 'b) Operation.t;
      structure : 't;
      arg : 'x;
      after : ('b, 'c, 'a) after;
    }
      -> 'a alternative
  | In_order of 'a alternative list  (** They are tried in this order. *)
  | In_any_order of 'a alternative list

(* An operation that the task waits for. *)
type ('t, 'x, 'b, 'c, 'a) enlisted = {
  operation : ('t, 'x, 'b) Operation.t;
  structure : 't;
  waiter : ('x, 'b) Waiter.t;
  after : ('b, 'c, 'a) after;
  mutable result : ('b, exn) result;
}

(* A task that was resumed may have been cancelled meanwhile, so what another task performed
   may have to be undone. *)
type 'a chosen =
  | Attempted : 'b * ('b, 'c, 'a) after -> 'a chosen
  | Resumed : ('t, 'x, 'b, 'c, 'a) enlisted -> 'a chosen

(* The order of so few alternatives is drawn at once. They have 40,320 orders, and a draw has
   2{^ 31} values. *)
let few = 8

(* The operation was chosen, but not performed. So anything that it holds has to be withdrawn. *)
let[@inline never] raised e { post; within; _ } =
  let backtrace = Backtrace.get () in
  let finish () = Printexc.raise_with_backtrace e backtrace in
  let within = Aborts.not_first within in
  Attempted ((), { finish; post; within; kind = Plain })

let rec attempt = function
  | In_order alternatives -> List.find_map attempt alternatives
  | In_any_order alternatives -> attempt_any (Array.of_list alternatives)
  | Alternative { operation; structure; arg; after } -> (
      match Operation.attempt operation structure arg with
      | Some v -> Some (Attempted (v, after))
      | None -> None
      | exception e -> Some (raised e after))

(* Tries all in a random order, in which each is equally likely to come before each other. *)
and attempt_any alternatives =
  match Array.length alternatives with
  | 0 -> None
  | 1 -> attempt alternatives.(0)
  | _ -> attempt_shuffled alternatives 0 (Shuffle.fraction ())

and attempt_shuffled alternatives i fraction =
  let left = Array.length alternatives - i in
  let j = i + Shuffle.below left fraction in
  let alternative = alternatives.(j) in
  if j > i then begin
    alternatives.(j) <- alternatives.(i);
    alternatives.(i) <- alternative
  end;
  match attempt alternative with
  | None when left > 1 ->
      attempt_shuffled alternatives (i + 1)
        (if left > few then Shuffle.fraction () else Shuffle.rest left fraction)
  | chosen -> chosen

type 'a one_enlisted =
  | Enlisted : ('t, 'x, 'b, 'c, 'a) enlisted -> 'a one_enlisted
[@@unboxed]

let rec withdraw_each enlisted =
  match !enlisted with
  | [] -> ()
  | Enlisted { operation; structure; waiter; _ } :: rest ->
      Operation.withdraw operation structure waiter;
      enlisted := rest;
      withdraw_each enlisted

(* Unbroken. A waiter that was withdrawn is marked, so it isn't withdrawn again. *)
let rec withdraw_all enlisted =
  try withdraw_each enlisted
  with e ->
    withdraw_all enlisted;
    raise e

(* The states of [choice], for one attempt to choose

   State  Left by   To    By whom
   false  resume *  true  the task that resumes one of the waiters, and then calls
                          the host's resumer, which decides against cancelling
          close     true  the task itself, if it finds an alternative ready while
                          it enlists
   true   never (terminal)

   A task that has closed its choice refuses every value. So it can try the ready alternative
   as if it waited for nothing else. If another task was faster there, it starts again with a
   new choice. It has not waited yet, so no task overtakes it because of that.

   The choices of two tasks may offer to each other. Both may then have closed, and both start
   again. They try in random orders, so this can't continue forever. *)
let decide choice = Atomic.compare_and_set choice false true

let is_last (type b) (kind : b kind) =
  match kind with Last -> true | Plain | Once | Tentative _ -> false

let is_once (type b) (kind : b kind) =
  match kind with Once -> true | Plain | Last | Tentative _ -> false

let rec is_among enlisted operation structure =
  match enlisted with
  | [] -> false
  | Enlisted first :: others ->
      Identity.equal first.structure structure
      && Identity.equal first.operation operation
      || is_among others operation structure

(* The result before an alternative is resumed. *)
let nothing_yet = Error Not_found

(* Enlists the alternatives until one of them is ready, and returns that one. The ones behind
   it are not enlisted. *)
let rec enlist choice resumer enlisted ~last = function
  | In_order alternatives | In_any_order alternatives ->
      List.find_map (enlist choice resumer enlisted ~last) alternatives
  | Alternative { after; _ } when is_last after.kind <> last -> None
  | Alternative { operation; structure; after; _ }
    when is_once after.kind && is_among !enlisted operation structure ->
      (* A barrier counts the enlisted tasks, so it must not count a task twice. *)
      None
  | Alternative { operation; structure; arg; after } as alternative ->
      let waiter = Waiter.make_alternative choice arg in
      let one = { operation; structure; waiter; after; result = nothing_yet } in
      let outcome = Ok (Resumed one) in
      let all = Enlisted one :: !enlisted in
      (* Unbroken from here on. Before the decision, an exception would lose a waiter that was
         taken out of its queue. After the decision, the resumption is owed. *)
      waiter.resumer <-
        (fun result ->
          decide choice
          && begin
            one.result <- result;
            (* [withdraw_all] then has nothing to do for this waiter *)
            Waiter.mark_withdrawn one.waiter;
            Sys.opaque_identity (resumer outcome)
          end);
      (* The waiter is noted before it is enlisted. Once it is in the queue, a handler may
         raise. *)
      enlisted := all;
      if Operation.enlist operation structure waiter then None
      else begin
        Waiter.mark_withdrawn waiter;
        Some alternative
      end

(* May the alternative contain one that is enlisted after the others? *)
let may_be_last = function
  | Alternative { after; _ } -> is_last after.kind
  | In_order _ | In_any_order _ -> true

let rec enlist_from choice resumer enlisted ~last ~some_last alternatives i =
  if i < Array.length alternatives then
    let alternative = alternatives.(i) in
    match enlist choice resumer enlisted ~last alternative with
    | None ->
        let some_last = some_last || may_be_last alternative in
        enlist_from choice resumer enlisted ~last ~some_last alternatives (i + 1)
    | ready -> ready
  else if some_last && not last then
    enlist_from choice resumer enlisted ~last:true ~some_last alternatives 0
  else None

let rec block alternatives enlisted resumer =
  let choice = Atomic.make false in
  match
    enlist_from choice resumer enlisted ~last:false ~some_last:false
      alternatives 0
  with
  | None -> None
  | Some ready ->
      if decide choice then begin
        withdraw_all enlisted;
        match attempt ready with
        | Some _ as chosen -> chosen
        | None -> (
            match attempt_any alternatives with
            | Some _ as chosen -> chosen
            | None -> block alternatives enlisted resumer)
      end
      else (* the task was resumed meanwhile *) None

(* --- Concluding ------------------------------------------------------------ *)

(* [before due f] runs [f ()] and then the first aborts. Its result returns or raises what [f
   ()] did. If an abort raises, the exception is raised at once, because handlers are only for
   the exceptions of [f]. *)
let before (type a) due (f : unit -> a) : unit -> a =
  let again =
    match f () with
    | v -> fun () -> v
    | exception e ->
        let backtrace = Backtrace.get () in
        fun () -> Printexc.raise_with_backtrace e backtrace
  in
  match Aborts.run_first due with
  | () -> again
  | exception e ->
      let backtrace = Backtrace.get () in
      ignore (again () : a);
      Printexc.raise_with_backtrace e backtrace

let finished finish = function
  | Ok v -> Sys.opaque_identity (finish v) (* no poll before it *)
  | Error e ->
      Observer.raises_unknown e;
      raise e

let[@inline never] conclude_with_aborts due { finish; post; within; _ } result =
  let finish () = finished finish result in
  Aborts.leave_out within due;
  let v =
    match post with
    | Then f ->
        let v = finish () in
        Aborts.run_first due;
        f v
    | Handled f -> f (before due finish)
  in
  Aborts.run_due due;
  v

(* The operation is finished first, because it may hold a structure that other tasks wait for. *)
let conclude_after due after result =
  if Aborts.is_empty due then
    match after.post with
    | Then f -> f (finished after.finish result)
    | Handled f -> f (fun () -> finished after.finish result)
  else conclude_with_aborts due after result

let conclude due = function
  | Attempted (v, after) -> conclude_after due after (Ok v)
  | Resumed { after; result; _ } -> conclude_after due after result

let is_confirmed = function
  | Resumed { after = { kind = Tentative confirm; _ }; result = Ok v; _ } ->
      confirm v
  | Resumed _ | Attempted _ -> true

let rec targets : type a. a alternative -> Target.t list = function
  | In_order alternatives | In_any_order alternatives ->
      List.concat_map targets alternatives
  | Alternative { operation; structure; _ } ->
      [ Operation.target operation structure ]

let[@inline never] suspend_slowly in_order block =
  let targets () = List.concat_map targets (Array.to_list in_order) in
  Reach.suspend_slowly targets block

let reversed alternatives =
  let n = Array.length alternatives in
  Array.init n (fun i -> alternatives.(n - 1 - i))

let refused = "Event.select"

(* Is there an alternative for which the task should spin, and none for which it must not? *)
let rec is_spun_for alternatives i ~any =
  if i = Array.length alternatives then any
  else
    match alternatives.(i) with
    | In_order _ | In_any_order _
    | Alternative { after = { kind = Last | Tentative _; _ }; _ } ->
        false
    | Alternative { after = { kind = Plain | Once; _ }; operation; _ } -> (
        match operation.spin with
        | Before | Enlisted_or_before
        | In_its_own_way (Own { in_choice = true; _ }) ->
            is_spun_for alternatives (i + 1) ~any:true
        | Indifferent -> is_spun_for alternatives (i + 1) ~any
        | Never | Enlisted | In_its_own_way (Own { in_choice = false; _ }) ->
            false)

(* Everything is withdrawn before anything else is done. *)
let[@inline never] withdraw_and_raise enlisted e =
  match Backtrace.get () with
  | backtrace ->
      withdraw_all enlisted;
      if Reach.is_refusal e then Reach.name_refusal refused;
      Observer.raises_unknown e;
      Printexc.raise_with_backtrace e backtrace
  | exception another ->
      withdraw_all enlisted;
      raise another

let undone = function
  | Resumed { operation; structure; waiter; result = Ok v; _ } ->
      operation.undo structure waiter.arg v
  | Resumed { result = Error _; _ } | Attempted _ -> false

let[@inline never] undo_if_cancelled chosen =
  match Overtaken.cancelled () with
  | Some raised when undone chosen -> raise (raised ())
  | Some _ | None -> chosen

(* [concord-trace --waits] reads this function's frame, and finds [enlisted] there. *)
let[@inline never] wait_for_any ~in_order alternatives =
  let enlisted = ref [] in
  let block resumer = block alternatives enlisted resumer in
  match
    let chosen =
      if Observer.takes_slow_path () then suspend_slowly in_order block
      else Reach.suspend_at_once block
    in
    if Overtaken.may_be () then undo_if_cancelled chosen else chosen
  with
  | chosen ->
      withdraw_all enlisted;
      chosen
  | exception e -> Sys.opaque_identity (withdraw_and_raise enlisted e)

let spin_for_any alternatives =
  if Operation.may_spin () && is_spun_for alternatives 0 ~any:false then
    Operation.spin Spin.soon
      (fun alternatives () () -> attempt_any alternatives)
      alternatives () ()
  else None

(* If the choice was resumed in vain, it starts again with the same arguments. *)
let rec perform_in_order in_order alternatives =
  match attempt_any alternatives with
  | Some chosen -> chosen
  | None -> (
      match spin_for_any alternatives with
      | Some chosen -> chosen
      | None ->
          let chosen = wait_for_any ~in_order alternatives in
          if is_confirmed chosen then chosen
          else perform_in_order in_order alternatives)

(* Only reports need the order of the source. The attempts change the order of the array. *)
let perform_any alternatives =
  let in_order =
    if Observer.takes_slow_path () then reversed alternatives else alternatives
  in
  perform_in_order in_order alternatives
