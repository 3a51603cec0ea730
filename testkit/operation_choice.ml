open Concord
open Operation_signature
open Operation_scene
open Operation_outcome
module Hand = Operation_hand

(* The other alternative of the choice takes from a box. *)

let select s box number =
  Event.select
    [
      (Option.get s.event) number;
      Event.wrap (Mvar.take_evt box) (fun () -> other);
    ]

let chooser s box = start ~wait:(select s box) s

let put box =
  if not (Mvar.try_put box ()) then
    Trial.fail "the choice performed both alternatives"

let still_there box =
  if Mvar.try_take box = None then
    Trial.fail "the choice performed both alternatives"

let left_the_box box =
  Trial.equal string_of_int "waiters of the other alternative, after the choice"
    0 (Mvar.waiters box)

(* The operation is chosen, and the other alternative is not. *)
let wins s =
  let box = Mvar.create_empty () in
  let w = chooser s box in
  let_go s 1;
  put box;
  still_there box;
  served s [ w ]

(* The other alternative is chosen. There is a release before its task continues, or after. *)
let loses ~settled ~others s =
  only_if
    (s.service <> Meets || settled)
    "a party that leaves keeps the others waiting";
  let box = Mvar.create_empty () in
  let w = chooser s box in
  let waiters = start_many s others in
  put box;
  if settled then settle s;
  if others > 0 then let_go s others
  else if s.keeps then begin
    release_by_hand s;
    settle s
  end;
  settle s;
  returned w;
  served s waiters

let leaves_both s =
  let box = Mvar.create_empty () in
  let cancelled = chooser s box in
  cancel cancelled;
  settle s;
  left cancelled;
  left_the_box box;
  let w = start s in
  let_go s 1;
  served s [ w ]

let has_its_turn s =
  let box = Mvar.create_empty () in
  let first = start s in
  let second = chooser s box in
  let third = start s in
  let_go s 3;
  left_the_box box;
  served ~in_order:s.in_order s [ first; second; third ]

let choose_always s number =
  Event.select [ (Option.get s.event) number; Event.always other ]

let never_waits s =
  let w = start ~wait:(choose_always s) s in
  returned w;
  served s []

let poll s number = Event.poll ((Option.get s.event) number)

let must_wait s =
  let polled number = Option.value (poll s number) ~default:other in
  returned (start ~wait:polled s);
  served s []

let is_ready s =
  only_if s.keeps "a release is not kept for tasks that come later";
  release_by_hand s;
  settle s;
  let w =
    start s ~wait:(fun number ->
        match poll s number with
        | Some got -> got
        | None ->
            Trial.fail "poll returned None, although a release had come before")
  in
  returned w;
  served s [ w ]

(* The structure ends while the choice waits, so the choice raises and takes nothing. *)
let ends s =
  match s.close with
  | None -> raise (Trial.Not_offered "it cannot be closed")
  | Some (exn, close) ->
      let box = Mvar.create_empty () in
      let w = chooser s box in
      close ();
      put box;
      settle s;
      raised exn w;
      still_there box

(* The event stands twice in one choice, and is performed once. *)
let twice s =
  only_if s.repeats "it does not promise this ([repeats] is false)";
  let event = Option.get s.event in
  let wait number = Event.select [ event number; event number ] in
  let cancelled = start ~wait s in
  cancel cancelled;
  settle s;
  left cancelled;
  let w = start ~wait s in
  let next = start s in
  let_go s 2;
  served ~in_order:s.in_order s [ w; next ]

(* Exactly one of the two is performed. The choice is random, so either is right. *)
let both_are_ready s =
  if s.keeps then begin
    release_by_hand s;
    settle s;
    let w = start ~wait:(choose_always s) s in
    returned w;
    conserved s
  end

let cases (module O : OPERATION) =
  let case ?(times = 1) (title, f) =
    let run () =
      only_if (Option.is_some O.event) "it has no event";
      for _ = 1 to times do
        f (create (module O) direct)
      done
    in
    { Trial.title; run }
  in
  case ~times:20 ("both alternatives are ready", both_are_ready)
  :: List.map
       (fun one -> case one)
       [
         ("the operation is chosen", wins);
         ("the other alternative is chosen", loses ~settled:true ~others:1);
         ( "the other alternative is chosen, and no task waits",
           loses ~settled:true ~others:0 );
         ( "the other is chosen, and a release comes before it withdraws",
           loses ~settled:false ~others:1 );
         ("the same, and no task waits", loses ~settled:false ~others:0);
         ("the choice is cancelled", leaves_both);
         ("other tasks wait before and after the choice", has_its_turn);
         ("the structure ends", ends);
         ("the event twice", twice);
         ("the other alternative is ready", never_waits);
         ("poll, when the operation would wait", must_wait);
         ("poll, when the operation need not wait", is_ready);
       ]
