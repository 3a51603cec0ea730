open Concord
open Concord_test_support

type t = {
  perform : unit -> int list;
  parts : (unit -> unit) list;
  wake : (unit -> unit) option;
  remembers : bool;
  beside : (unit -> unit) option;
  waiters : unit -> int;
  look : unit -> int list;
}

type case = { name : string; make : unit -> t }

let scene ?(parts = []) ?wake ?(remembers = true) ?beside ~waiters ~look perform
    =
  { perform; parts; wake; remembers; beside; waiters; look }

(* --- Tasks that wait ----------------------------------------------------------- *)

exception Left

let none = -1

(* The resumer allocates nothing, so no handler can raise in it. *)
let come f =
  let result = ref none and next = ref None in
  let suspend block k =
    let decided = Atomic.make false and outcome = ref (Error Left) in
    let resumer o =
      Atomic.compare_and_set decided false true
      && begin
        outcome := o;
        true
      end
    in
    let go_on () =
      if Atomic.compare_and_set decided false true then
        Effect.Deep.discontinue k Left
      else Handled.go_on k !outcome
    in
    next := Some go_on;
    match block resumer with
    | None -> ()
    | Some v ->
        next := None;
        Effect.Deep.continue k v
  in
  Handled.run { suspend } ~ret:ignore (fun () ->
      match f () with v -> result := v | exception Left -> ());
  let rec finish () =
    match !next with
    | None -> !result
    | Some go_on ->
        next := None;
        go_on ();
        finish ()
  in
  finish

let visit f () =
  let finish = come f in
  ignore (finish () : int)

(* --- The operations of the table -------------------------------------------------- *)

(* Serves one more waiter, if the operation can be served twice. *)
let full_round (operation : int Operations.t) (place : int Operations.place) =
  match operation.service with
  | Takes | Gives | Passes ->
      let finish = come (fun () -> place.wait 9) in
      let woken = place.wake () in
      let result = finish () in
      [ woken; result ] @ place.left ()
  | Shares | Meets -> []

let of_operation (operation : int Operations.t) =
  (* Names [Mvar.take], or [Mvar.take_evt] for its events. *)
  let called what =
    match String.split_on_char ',' operation.name with
    | first :: rest when what <> "" ->
        let is_event = String.ends_with ~suffix:"_evt" first in
        let name = if is_event then first else first ^ "_evt" in
        String.concat "," ((name ^ what) :: rest)
    | _ -> operation.name
  in
  let case ?(withdraws = false) what way =
    let make () =
      let place = operation.make 2 in
      let perform () = [ way place ] in
      let wake () = ignore (place.wake () : int)
      and others_come = visit (fun () -> place.wait 8) in
      scene perform ~waiters:place.waiters ~remembers:operation.remembers
        ?wake:(if withdraws then None else Some wake)
        ?beside:
          (if withdraws || operation.service = Meets then None
           else Some others_come)
        ~look:(fun () ->
          (* Tasks that came to meet an interrupted one wait for others, and some of them
             may have been resumed in vain. *)
          if operation.service = Meets then begin
            Hand.settle ();
            if place.waiters () > 0 then ignore (place.wake () : int);
            Hand.settle ()
          end;
          let left = place.left () in
          (place.waiters () :: left) @ full_round operation place)
    in
    { name = called what ^ ", it waits"; make }
  in
  let event (place : int Operations.place) = (Option.get place.event) 7 in
  case "" (fun place -> place.wait 7)
  ::
  (if Option.is_none (operation.make 1).event then []
   else
     [
       case ", synced" (fun place -> Event.sync (event place));
       case ", chosen" (fun place -> Event.select [ event place; Event.never ]);
       case ", before a time" (fun place ->
           Option.value ~default:none (Event.sync_before 60. (event place)));
     ]
     @
     if operation.service = Meets then []
     else
       [
         case ", another is chosen" ~withdraws:true (fun place ->
             let other = Event.wrap Interrupting.passes (fun () -> none) in
             Event.select [ event place; other ]);
       ])
