type 'b kind =
  | Plain
  | Last  (** To be enlisted after the others. *)
  | Tentative of { confirm : 'b -> bool; once : bool }
      (** [confirm]: was it performed? To be asked in the task that was resumed.
          [once]: in a choice enlisted once for each structure. *)

(* What is wrapped around an operation. *)
type (-'c, +'a) post =
  | Then of ('c -> 'a)
  | Handled of ((unit -> 'c) -> 'a)
      (** For functions that look at exceptions too: the argument gives the
          result of the operation, or raises what that raised. *)

(* One operation that can be chosen. *)
type +'a alternative =
  | Alternative : {
      operation : ('t, 'x, 'b) Operation.t;
      structure : 't;
      arg : 'x;
      finish : 'b -> 'c;  (** What is left of the operation itself. *)
      post : ('c, 'a) post;
      within : Aborts.t list;  (** The [wrap_abort]s around it. *)
      kind : 'b kind;
    }
      -> 'a alternative
  | In_order of 'a alternative list  (** Tried in this order. *)
  | In_any_order of 'a alternative list

type ('b, 'c, 'a) performed = {
  mutable result : ('b, exn) result;
  finish : 'b -> 'c;
  post : ('c, 'a) post;
  within : Aborts.t list;
  kind : 'b kind;
}

type 'a chosen = Chosen : ('b, 'c, 'a) performed -> 'a chosen [@@unboxed]

(* The order of so few is drawn at once: they have 40,320 orders, and a draw has 2{^ 31}
   values. *)
let few = 8

let rec attempt = function
  | In_order alternatives -> List.find_map attempt alternatives
  | In_any_order alternatives -> attempt_any (Array.of_list alternatives)
  | Alternative { operation; structure; arg; finish; post; within; _ } -> (
      match Operation.attempt operation structure arg with
      | Some v ->
          Some (Chosen { result = Ok v; finish; post; within; kind = Plain })
      | None -> None
      | exception e ->
          let backtrace = Backtrace.get () in
          let finish () = Printexc.raise_with_backtrace e backtrace in
          (* it is chosen, but was not performed: what it holds is to be withdrawn *)
          let within = Aborts.not_first within in
          Some (Chosen { result = Ok (); finish; post; within; kind = Plain }))

(* Tries all, in an order in which each is equally likely before each other. *)
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

type enlisted =
  | Enlisted : {
      operation : ('t, 'x, 'a) Operation.t;
      structure : 't;
      waiter : ('x, 'a) Waiter.t;
    }
      -> enlisted

let rec withdraw_each enlisted =
  match !enlisted with
  | [] -> ()
  | Enlisted { operation; structure; waiter } :: rest ->
      Operation.withdraw operation structure waiter;
      enlisted := rest;
      withdraw_each enlisted

(* All of them, also if a signal handler raises meanwhile. A waiter that was withdrawn
   is marked as withdrawn, and not withdrawn once more. *)
let rec withdraw_all enlisted =
  try withdraw_each enlisted
  with e ->
    withdraw_all enlisted;
    raise e

(* [choice], for one attempt to choose

   State  Left by   To    By whom
   false  resume *  true  the task that resumes one of the waiters; it then calls
                          the host's resumer, which decides against cancelling
          close     true  the task itself, while it enlists, when it finds an
                          alternative ready
   true   never (terminal)

   A task that closed its choice refuses every value, so that it can try the
   alternative that was ready as if it waited for nothing else. If another task
   was faster there, it begins again, with a new choice: it has not waited yet,
   so that no task overtakes it. Two tasks whose choices offer to each other may
   both have closed, and both begin again; they try in random orders, so that
   this does not go on. *)
let decide choice = Atomic.compare_and_set choice false true

let is_last (type b) (kind : b kind) =
  match kind with Last -> true | Plain | Tentative _ -> false

let is_once (type b) (kind : b kind) =
  match kind with Tentative { once; _ } -> once | Plain | Last -> false

let rec is_among enlisted operation structure =
  match enlisted with
  | [] -> false
  | Enlisted first :: others ->
      Identity.equal first.structure structure
      && Identity.equal first.operation operation
      || is_among others operation structure

(* A barrier counts those that are enlisted, so it must not count one task twice. *)
let is_enlisted enlisted = function
  | Alternative { operation; structure; kind; _ } ->
      is_once kind && is_among !enlisted operation structure
  | In_order _ | In_any_order _ -> false

(* Until an alternative is resumed. *)
let nothing_yet = Error Not_found

(* The one that is ready, if any; those behind it are not enlisted. *)
let rec enlist choice resumer enlisted ~last = function
  | In_order alternatives | In_any_order alternatives ->
      List.find_map (enlist choice resumer enlisted ~last) alternatives
  | Alternative a when is_last a.kind <> last -> None
  | alternative when is_enlisted enlisted alternative -> None
  | Alternative a as alternative ->
      let waiter = Waiter.make_alternative choice a.arg in
      let performed =
        {
          result = nothing_yet;
          finish = a.finish;
          post = a.post;
          within = a.within;
          kind = a.kind;
        }
      in
      let outcome = Ok (Chosen performed) in
      let all =
        Enlisted { operation = a.operation; structure = a.structure; waiter }
        :: !enlisted
      in
      (* Nothing is allocated from here on, and no call is a tail call: a signal handler
         may raise where something is allocated, and before a function that ends in a
         tail call. Before the decision that would lose a waiter which was taken out of
         its queue; after it the resumption is owed. *)
      waiter.resumer <-
        (fun result ->
          decide choice
          && begin
            performed.result <- result;
            (* so that [withdraw_all] has nothing to do for it *)
            Waiter.mark_withdrawn waiter;
            Sys.opaque_identity (resumer outcome)
          end);
      (* before it is: a handler may raise once it is in the queue *)
      enlisted := all;
      if Operation.enlist a.operation a.structure waiter then None
      else begin
        Waiter.mark_withdrawn waiter;
        Some alternative
      end

and enlist_from choice resumer enlisted ~last alternatives i =
  if i = Array.length alternatives then None
  else
    match enlist choice resumer enlisted ~last alternatives.(i) with
    | None -> enlist_from choice resumer enlisted ~last alternatives (i + 1)
    | ready -> ready

let rec block alternatives enlisted resumer =
  let choice = Atomic.make false in
  let enlist ~last = enlist_from choice resumer enlisted ~last alternatives 0 in
  match
    match enlist ~last:false with None -> enlist ~last:true | ready -> ready
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
      else (* resumed meanwhile *) None

(* --- Concluding ------------------------------------------------------------ *)

(* [before due f] runs [f ()] and then the first aborts, and gives what [f] gave or
   raised once more. An abort's exception is raised at once: handlers are for [f]'s. *)
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

(* The operation is finished first: it may hold what others wait for. *)
let conclude (type a) due
    (Chosen { result; finish; post; within; _ } : a chosen) : a =
  let finish () =
    match result with
    | Ok v -> finish v
    | Error e ->
        Labels.raises_unknown e;
        raise e
  in
  if Aborts.is_empty due then
    match post with Then f -> f (finish ()) | Handled f -> f finish
  else begin
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
  end

let is_confirmed (Chosen { kind; result; _ }) =
  match (kind, result) with
  | Tentative { confirm; _ }, Ok v -> confirm v
  | (Plain | Last), _ | Tentative _, Error _ -> true

let rec targets : type a. a alternative -> Waits.target list = function
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

let refused = Some "Event.select"

(* Is there one for which the task should spin, and none for which it must not? *)
let rec may_spin alternatives i ~any =
  if i = Array.length alternatives then any && Operation.may_spin ()
  else
    match alternatives.(i) with
    | In_order _ | In_any_order _ | Alternative { kind = Last | Tentative _; _ }
      ->
        false
    | Alternative { kind = Plain; operation; _ } -> (
        match operation.spin with
        | Before | Enlisted_or_before -> may_spin alternatives (i + 1) ~any:true
        | Indifferent -> may_spin alternatives (i + 1) ~any
        | Never | Enlisted -> false)

let wait_for_any ~in_order alternatives =
  let enlisted = ref [] in
  let block resumer = block alternatives enlisted resumer in
  match
    if Reach.takes_slow_path () then suspend_slowly in_order block
    else Reach.suspend_at_once block
  with
  | chosen ->
      withdraw_all enlisted;
      chosen
  | exception e ->
      let backtrace = Backtrace.get () in
      if Reach.is_refusal e then Atomic.set Operation.refused refused;
      Labels.raises_unknown e;
      withdraw_all enlisted;
      Printexc.raise_with_backtrace e backtrace

let spin_for_any alternatives =
  if may_spin alternatives 0 ~any:false then
    Operation.spin Spin.soon
      (fun alternatives () () -> attempt_any alternatives)
      alternatives () ()
  else None

(* A choice that was resumed in vain begins again, with the same arguments. *)
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

(* Only reports need the order of the source, which the attempts destroy. *)
let perform_any alternatives =
  let in_order =
    if Reach.takes_slow_path () then reversed alternatives else alternatives
  in
  perform_in_order in_order alternatives
