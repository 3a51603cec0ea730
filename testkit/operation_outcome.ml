open Operation_signature
open Operation_scene

(* --- Checks of the outcome ------------------------------------------------------ *)

let show numbers =
  match List.map string_of_int numbers with
  | [] -> "none"
  | numbers -> String.concat ", " numbers

(* The sorted list [many] without the elements of the sorted list [few]. An element that [few]
   has twice is removed twice. *)
let rec without few many =
  match (few, many) with
  | [], many -> many
  | _, [] -> []
  | a :: few', b :: many' ->
      if a = b then without few' many'
      else if a < b then without few' many
      else b :: without few many'

let sorted list = List.sort Int.compare (Atomic.get list)

(* The numbers that went in and did not come out, and those that came out more often than
   they went in. *)
let balance s =
  let brought = sorted s.brought and got = sorted s.got in
  (without got brought, without brought got)

let name number =
  if number > number_of_release 0 then
    Printf.sprintf "the number of release %d" (number - number_of_release 0)
  else Printf.sprintf "the number of task %d" number

let names numbers = String.concat ", " (List.map name numbers)

(* Starts one more task, and returns whether it continued without a release. *)
let newcomer s =
  let w = start s in
  settle s;
  if waits w then begin
    cancel w;
    settle s;
    left w;
    false
  end
  else begin
    returned w;
    true
  end

let rec newcomers s =
  if List.length (Atomic.get s.served) > Atomic.get s.released + 1 then
    Trial.fail "more tasks continued than there were releases";
  if newcomer s then newcomers s

let take_out s =
  let rec go in_vain =
    let before = List.length (Atomic.get s.got) in
    release_by_hand s;
    settle s;
    if List.length (Atomic.get s.got) > before then go 0
    else if in_vain < 2 then go (in_vain + 1)
  in
  go 0

(* A task that comes after the release continues too. *)
let no_newcomer_waits s =
  if s.keeps && Atomic.get s.released > 0 && not (newcomer s) then
    Trial.fail
      "a task that came after the release waits, although [keeps] is true"

let nothing_invented twice =
  if twice <> [] then
    Trial.fail "a value came out twice, or without having been put in: %s"
      (names twice)

let equal_balance s =
  let lost, twice = balance s in
  nothing_invented twice;
  if lost <> [] then
    Trial.fail "a value went in and never came out: %s" (names lost)

let conserved s =
  match s.service with
  | Signals ->
      if s.keeps then begin
        newcomers s;
        let served = List.length (Atomic.get s.served) in
        let released = Atomic.get s.released in
        if served <> released then
          Trial.fail
            "%d releases let %d tasks continue, but the two should be equal"
            released served
      end
  | Takes | Trades ->
      if s.keeps then newcomers s;
      equal_balance s
  | Gives ->
      take_out s;
      equal_balance s
  | Shares ->
      no_newcomer_waits s;
      let brought = Atomic.get s.brought in
      nothing_invented
        (List.filter (fun v -> not (List.mem v brought)) (Atomic.get s.got))
  | Passes ->
      no_newcomer_waits s;
      let lost, twice = balance s in
      nothing_invented twice;
      if List.length lost > 1 then
        Trial.fail "a value went in and never came out: %s" (names lost)
  | Meets -> ()

(* How many tasks can come to an empty structure without waiting. *)
let room s =
  let most = 1_000 in
  let rec go n = if n < most && newcomer s then go (n + 1) else n in
  take_out s;
  go 0

let bounded s =
  match s.service with
  | Gives ->
      let at_first = room (s.fresh ()) and now = room s in
      if now <> at_first then
        Trial.fail
          "%d tasks can give without waiting now, but %d could at first" now
          at_first
  | Signals | Takes | Trades | Shares | Passes | Meets -> ()

let counted s n =
  let counts count =
    Trial.equal string_of_int "the count of waiters" n (count ())
  in
  Option.iter counts s.count

let served ?(in_order = false) s waiters =
  List.iter returned waiters;
  let expected = List.map (fun w -> w.number) waiters in
  let actual = List.rev (Atomic.get s.served) in
  let compared = if in_order then Fun.id else List.sort Int.compare in
  Trial.equal show "the tasks that continued" (compared expected)
    (compared actual);
  conserved s
