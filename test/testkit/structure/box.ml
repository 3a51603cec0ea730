(* A small structure with one fault on purpose, and its description: a box of values, which tasks
   take in the order of arrival. test/model copies this file. *)

open Structure_kit

type fault =
  | Nothing
  | Last_first  (** The task that came last is served first. *)
  | Refusal_ignored  (** A value given to a cancelled task is lost. *)
  | Withdrawn_stay  (** A cancelled task stays in the queue. *)
  | Close_wakes_one  (** The other tasks wait forever. *)
  | Put_wakes_nobody  (** A value is kept, although a task waits. *)
  | Enlists_too_late  (** A value may have come, and the task waits forever. *)
  | Taken_twice  (** Two tasks may take the same value. *)

type state = {
  values : int list;
  takers : (unit, int) waiter list;
  closed : bool;
}

type t = { fault : fault; state : state Atomic.t }

exception End

(* Whether the state is still [before], and now [after]. If the [fault] is there, the answer is
   always [true], and another domain may have come between. *)
let change t fault before after =
  if t.fault = fault then begin
    for _ = 1 to 20 do
      Domain.cpu_relax ()
    done;
    update t.state after;
    true
  end
  else Atomic.compare_and_set t.state before (after before)

let rec attempt t () =
  match Atomic.get t.state with
  | { values = v :: values; _ } as before ->
      if change t Taken_twice before (fun s -> { s with values }) then Some v
      else attempt t ()
  | { values = []; closed = true; _ } -> raise End
  | { values = []; closed = false; _ } -> None

let rec enlist t w =
  let before = Atomic.get t.state in
  before.values = [] && (not before.closed)
  && (change t Enlists_too_late before (fun s ->
          { s with takers = s.takers @ [ w ] })
     || enlist t w)

let withdraw t w =
  let others = List.filter (( != ) w) in
  if t.fault <> Withdrawn_stay then
    update t.state (fun s -> { s with takers = others s.takers })

let taking =
  { default with name = "take"; how = By_hand { attempt; enlist; withdraw } }

let rec put t v =
  let before = Atomic.get t.state in
  if before.closed then raise End;
  let keep () =
    let after = { before with values = before.values @ [ v ] } in
    if not (Atomic.compare_and_set t.state before after) then put t v
  in
  let order takers = if t.fault = Last_first then List.rev takers else takers in
  match order before.takers with
  | w :: rest when t.fault <> Put_wakes_nobody ->
      let after = { before with takers = order rest } in
      let served =
        Atomic.compare_and_set t.state before after
        && (Waiter.resume w (Ok v) || t.fault = Refusal_ignored)
      in
      if not served then put t v
  | _ -> keep ()

let rec close t =
  let before = Atomic.get t.state in
  let after = { before with takers = []; closed = true } in
  if Atomic.compare_and_set t.state before after then
    List.iteri
      (fun i w ->
        if i = 0 || t.fault <> Close_wakes_one then
          ignore (Waiter.resume w (Error End) : bool))
      before.takers
  else close t

(* --- The description --------------------------------------------------------------- *)

module Described (Faulty : sig
  val fault : fault
end) =
struct
  type nonrec t = t
  type state = Open of int list | Shut of int list
  type operation = Take | Put of int | Close

  let name = "Box"
  let initial = Open []
  let operations n = Description.often [ Take; Take; Put n ] @ [ Close ]
  let line = function Take -> Some 0 | Put _ | Close -> None

  let perform ~waiting:_ state operation : _ Description.answer =
    match (operation, state) with
    | Take, Open (v :: rest) -> Returns (Open rest, string_of_int v)
    | Take, Shut (v :: rest) -> Returns (Shut rest, string_of_int v)
    | Take, Open [] -> Waits
    | (Take | Put _), Shut _ -> Returns (state, "End")
    | Put v, Open values ->
        let kept = Description.Returns (Open (values @ [ v ]), "()") in
        let given _ = Description.Returns (state, "()") in
        Wakes_one
          {
            line = 0;
            result = string_of_int v;
            accepted = given;
            nobody = kept;
          }
    | Close, (Open values | Shut values) ->
        let next = Description.Returns (Shut values, "()") in
        Wakes_all { lines = [ 0 ]; result = "End"; next }

  let if_cancelled _ = Description.Leaves
  let beside _ = Description.Exact

  let show = function
    | Take -> "take"
    | Put v -> Printf.sprintf "put %d" v
    | Close -> "close"

  let looks = [ Take; Take; Take ]

  let create () =
    let state = Atomic.make { values = []; takers = []; closed = false } in
    { fault = Faulty.fault; state }

  let call t operation =
    try
      match operation with
      | Take -> string_of_int (wait taking t ())
      | Put v ->
          put t v;
          "()"
      | Close ->
          close t;
          "()"
    with End -> "End"

  let event _ _ = None

  let try_call t = function
    | Take -> (
        match attempt t () with
        | v -> Some (Option.map string_of_int v)
        | exception End -> Some (Some "End"))
    | Put _ | Close -> None

  let waiters t = List.length (Atomic.get t.state).takers
end
