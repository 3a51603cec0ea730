(* One choice over all operations of all structures. *)

open Concord
open Concord_test_support
open Check

type alternative = {
  name : string;
  event : string Event.t;
  perform : unit -> unit;  (** Makes the event ready. *)
  untouched : unit -> unit;
      (** Fails unless the event is still available after [perform]. *)
  waiters : unit -> int;
}

let alternative { Operations.name; service; remembers; make; _ } =
  let { Operations.event; wake; left; waiters; _ } = make 1 in
  let given = ref [] in
  let of_event event =
    {
      name;
      event = Event.wrap (event 7) (fun _ -> name);
      perform = (fun () -> given := [ wake () ]);
      untouched =
        (fun () ->
          let kept =
            match service with
            | (Takes | Shares | Passes) when remembers -> !given
            | _ -> []
          in
          Alcotest.(check (list int)) (name ^ ": untouched") kept (left ()));
      waiters;
    }
  in
  Option.map of_event event

let all () = List.filter_map alternative Operations.all

let select alternatives =
  let task =
    Hand.start (fun () ->
        Event.select (List.map (fun a -> a.event) alternatives))
  in
  List.iter (fun a -> int (a.name ^ " waits") 1 (a.waiters ())) alternatives;
  task

(* Makes each event ready in turn. The choice must perform it, and all others must stay
   available. They become ready [before] the task runs, or after that. *)
let one_by_one ~before () =
  let check i =
    let alternatives = all () in
    let task = select alternatives in
    let it = List.nth alternatives i in
    let others = List.filter (fun a -> a != it) alternatives in
    let offer_others () = List.iter (fun a -> a.perform ()) others in
    it.perform ();
    if before then offer_others ();
    Hand.settle ();
    Alcotest.(check string) "chosen" it.name (Hand.result task);
    if not before then begin
      List.iter (fun a -> int a.name 0 (a.waiters ())) alternatives;
      offer_others ()
    end;
    List.iter (fun a -> a.untouched ()) others
  in
  List.iteri (fun i _ -> check i) (all ())

let cancelled () =
  let alternatives = all () in
  let task = select alternatives in
  yes "cancel" (Hand.cancel task);
  List.iter (fun a -> a.perform ()) alternatives;
  Hand.settle ();
  Hand.unwound task;
  List.iter (fun a -> a.untouched ()) alternatives

let polled () =
  let alternatives = all () in
  let event = Event.choose (List.map (fun a -> a.event) alternatives) in
  yes "poll" (Event.poll event = None);
  let untouched a =
    int (a.name ^ " has no waiter") 0 (a.waiters ());
    a.perform ();
    a.untouched ()
  in
  List.iter untouched alternatives

let () =
  run "Event.select over all structures"
    [
      ( "choices",
        [
          test "each is performed, and no other" (one_by_one ~before:false);
          test "all become ready before the task runs" (one_by_one ~before:true);
          test "all become ready after it was cancelled" cancelled;
          test "poll of events that must wait" polled;
        ] );
    ]
