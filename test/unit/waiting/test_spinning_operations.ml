(* A task spins before it enlists a waiter, because the wait may soon be over. *)

open Concord_test_support
open Check
open Concord.Tools.Structure_kit
module Event = Concord.Event

exception Boom

(* [attempt] succeeds from call number [from] on. A waiter that is enlisted is resumed at
   once. *)
type t = { mutable attempts : int; mutable enlisted : int; from : int }

let never = max_int
let looked_for = "found"
let waited_for = "resumed"
let make from = { attempts = 0; enlisted = 0; from }

let attempt t () =
  t.attempts <- t.attempts + 1;
  if t.attempts >= t.from then Some looked_for else None

let enlist t (w : (unit, string) waiter) =
  t.enlisted <- t.enlisted + 1;
  yes "resumed" (w.resumer (Ok waited_for));
  true

let by attempt enlist =
  {
    default with
    name = "test";
    spin = Before;
    how = By_hand { attempt; enlist; withdraw = (fun _ _ -> ()) };
  }

let operation = by attempt enlist

(* The public [wait] attempts the operation first, so it would count one more attempt. *)
let wait_for = Concord__core__Operation.wait
let wait t = wait_for operation t ()
let string = Alcotest.(check string)

let looked ?(says = looked_for) t f =
  string "found by spinning" says (f t);
  int "not enlisted" 0 t.enlisted

let waited ~attempts t f =
  string "waited for" waited_for (f t);
  int "enlisted" 1 t.enlisted;
  int "attempts" attempts t.attempts

(* Each test runs on its own domain, because a domain remembers how well it has spun. *)
let fresh f () = in_domain f
let alone () = waited ~attempts:0 (make 1) wait
let found () = looked (make 5) wait

let in_vain () =
  waited ~attempts:33 (make never) wait;
  waited ~attempts:0 (make 1) wait;
  looked (make 1) wait

let others_have_turns () =
  for _ = 1 to 2 do
    for _ = 1 to 32 do
      looked (make 2) wait
    done;
    waited ~attempts:0 (make 2) wait
  done

let raising () =
  let attempt t () = if t.attempts = 3 then raise Boom else attempt t () in
  let operation = by attempt enlist in
  let t = make never in
  raises "the attempt's" Boom (fun () -> wait_for operation t ());
  int "not enlisted" 0 t.enlisted;
  looked (make 5) wait

(* Another domain fills a box many times. The values that are found by spinning and those
   that are waited for must come in order. *)
let none_is_lost () =
  let n = 20_000 and box = Concord.Mvar.create_empty () in
  let put () =
    for i = 1 to n do
      Concord.Mvar.put box i
    done
  in
  let joined = domain put in
  for i = 1 to n do
    let v =
      match i mod 3 with
      | 0 -> Concord.Mvar.take box
      | 1 -> Event.sync (Concord.Mvar.take_evt box)
      | _ ->
          Event.select
            [
              Concord.Mvar.take_evt box;
              Event.wrap (Event.timeout 60.) (fun () -> -1);
            ]
    in
    if v <> i then Alcotest.failf "%d instead of %d" v i
  done;
  joined ()

(* --- Partners that meet ------------------------------------------------------ *)

(* [answers] has a function for each waiter that enlists, in order. Nothing else resumes
   them. *)
type 'a desk = {
  mutable answers : ('a waiter -> unit) list;
  mutable left : int;
}

and 'a waiter = (unit, 'a) Concord.Tools.Structure_kit.waiter

let desk answers = { answers; left = 0 }
let nobody _ () = None

let comes desk (w : _ waiter) =
  let answer = List.hd desk.answers in
  desk.answers <- List.tl desk.answers;
  answer w;
  true

let meeting_by attempt enlist =
  {
    default with
    name = "meet";
    spin = Enlisted;
    how =
      By_hand
        {
          attempt;
          enlist;
          withdraw = (fun desk _ -> desk.left <- desk.left + 1);
        };
  }

let meeting = meeting_by nobody comes
let meet desk = wait_for meeting desk ()
let answer outcome (w : _ waiter) = yes "resumed" (w.resumer outcome)
let refused outcome (w : _ waiter) = no "resumed twice" (w.resumer outcome)

let met ?(left = 0) says desk =
  string "resumed with" says (meet desk);
  int "left" left desk.left;
  int "all enlisted" 0 (List.length desk.answers)

let meets () =
  met "a" (desk [ answer (Ok "a") ]);
  met "a"
    (desk
       [
         (fun w ->
           answer (Ok "a") w;
           refused (Ok "b") w);
       ])

let meets_nobody () =
  met ~left:1 "b" (desk [ ignore; answer (Ok "b") ]);
  (* It has learned, so it doesn't spin. *)
  met "b" (desk [ answer (Ok "b") ])

(* A task may still resume a waiter that has left. This must be refused. *)
let meets_late () =
  let first = ref ignore in
  let late w = first := fun () -> refused (Ok "late") w in
  let desk =
    desk
      [
        late;
        (fun w ->
          !first ();
          answer (Ok "b") w);
      ]
  in
  met ~left:1 "b" desk

let meets_failure () =
  raises "the outcome that resumes it" Boom (fun () ->
      meet (desk [ answer (Error Boom) ]));
  let desk = desk [ (fun _ -> raise Boom) ] in
  raises "before it is resumed" Boom (fun () -> meet desk);
  int "left" 1 desk.left

(* Raises as a signal handler would. *)
let meets_interrupted () =
  met "a"
    (desk
       [
         (fun w ->
           answer (Ok "a") w;
           raise Boom);
       ]);
  raises "the next wait" Boom (fun () -> meet (desk []))

(* Callbacks of [Memprof] raise where signal handlers do, at allocations. *)
let interrupted_where_it_allocates () =
  let interrupt _ = raise Boom in
  let tracker = { Gc.Memprof.null_tracker with alloc_minor = interrupt } in
  ignore (Gc.Memprof.start ~sampling_rate:1. tracker : _)

let or_lost f =
  match f () with
  | got ->
      (try Gc.Memprof.stop () with Boom -> Gc.Memprof.stop ());
      got
  | exception Boom ->
      Gc.Memprof.stop ();
      Alcotest.fail "interrupted"

(* The waiter is no longer in a queue. So if its resumer raised, the outcome would be lost. *)
let resumer_interrupted () =
  let outcome = Sys.opaque_identity (Ok "a") in
  let resume (w : _ waiter) =
    let resume () =
      interrupted_where_it_allocates ();
      w.resumer outcome
    in
    yes "resumed" (or_lost resume)
  in
  met "a" (desk [ resume ])

let interrupted_with_something () =
  let taken = Some "taken" in
  let attempt _ () =
    interrupted_where_it_allocates ();
    taken
  in
  let operation = meeting_by attempt (fun _ _ -> false) in
  string "the value that it has taken" "taken"
    (or_lost (fun () -> wait_for operation (desk []) ()))

(* An event alone does the same as its operation. *)
let event_meets () =
  let sync spin desk = Event.sync (Event.make { meeting with spin } desk ()) in
  let met_by sync =
    let desk = desk [ ignore; answer (Ok "b") ] in
    string "resumed with" "b" (sync desk);
    int "left" 1 desk.left
  in
  in_domain (fun () -> met_by (sync Enlisted));
  in_domain (fun () -> met_by (sync Enlisted_or_before))

let rendezvous () =
  let n = 20_000 and channel = Concord.Channel.create () in
  let joined =
    domain (fun () ->
        for i = 1 to n do
          if i mod 4 < 2 then Concord.Channel.send channel i
          else Event.sync (Concord.Channel.send_evt channel i)
        done)
  in
  for i = 1 to n do
    let v =
      match i mod 3 with
      | 0 -> Concord.Channel.receive channel
      | 1 -> Event.sync (Concord.Channel.receive_evt channel)
      | _ ->
          Event.select
            [
              Concord.Channel.receive_evt channel;
              Event.wrap (Event.timeout 60.) (fun () -> -1);
            ]
    in
    int "received" i v
  done;
  joined ()

(* --- Events ------------------------------------------------------------------ *)

let sync spin t = Event.sync (Event.make { operation with spin } t ())

(* The other alternatives are never found ready, and never resumed. *)
let idle spin =
  let operation = by attempt (fun _ _ -> true) in
  Event.make { operation with spin }
    { attempts = 0; enlisted = 0; from = never }
    ()

let select others spin t =
  Event.select (Event.make { operation with spin } t () :: others)

let timeout () = Event.wrap (Event.timeout 60.) (fun () -> "late")

let events () =
  looked (make 5) (sync Before);
  (* The event itself makes one attempt. *)
  waited ~attempts:1 (make 2) (sync Concord.Tools.Structure_kit.Never)

let choices () =
  looked (make 5) (select [ idle Before; timeout () ] Before);
  waited ~attempts:1 (make 2)
    (select [ idle Concord.Tools.Structure_kit.Never ] Before);
  waited ~attempts:1 (make 2)
    (select [ idle Before ] Concord.Tools.Structure_kit.Never);
  looked (make 5)
    (select [ idle Enlisted_or_before; timeout () ] Enlisted_or_before);
  waited ~attempts:1 (make 2) (select [ idle Enlisted_or_before ] Enlisted);
  waited ~attempts:1 (make 2) (select [ idle Enlisted ] Enlisted_or_before)

(* At the pace [bulk], a task tries twice. If that was in vain, it tries once more without
   spinning. In a choice it spins as others do, or not at all. *)
let own_way () =
  let prepared = ref 0 in
  let own in_choice =
    let prepare () = incr prepared and attempt t () () = attempt t () in
    let pace = Concord__core__Spin.bulk in
    In_its_own_way
      (Concord__core__Operation.Own { pace; prepare; attempt; in_choice })
  in
  let wait t = wait_for { operation with spin = own false } t () in
  looked (make 2) wait;
  looked (make 3) wait;
  waited ~attempts:0 (make 1) wait;
  waited ~attempts:3 (make never) wait;
  int "prepared" 3 !prepared;
  in_domain (fun () -> looked (make 5) (select [ timeout () ] (own true)));
  in_domain (fun () ->
      waited ~attempts:1 (make 2) (select [ idle Before ] (own false)));
  int "not prepared for a choice" 3 !prepared

(* Timeouts come by themselves, so they must not be spun for. If they were, the last wait
   wouldn't spin, because the earlier spins were in vain. *)
let timeouts () =
  Event.sync (Event.timeout 0.001);
  looked (make 2) wait;
  Event.select [ Event.timeout 0.001; Event.timeout 60. ];
  looked (make 2) wait

let choices_in_vain () =
  waited ~attempts:34 (make never) (select [ idle Before ] Before);
  waited ~attempts:1 (make 2) (select [ idle Before ] Before);
  looked (make 2) (select [ idle Before ] Before)

let () =
  let with_other_cores tests =
    if Domain.recommended_domain_count () > 1 then tests
    else [ test "one core: no task spins" (fresh alone) ]
  in
  run "Spinning"
    [
      (* This comes first, because no domain may have been spawned. *)
      ("one domain", [ test "no task spins" alone ]);
      ( "two domains",
        with_other_cores
          [
            test "a value that comes soon" (fresh found);
            test "unsuccessful: it waits, and learns" (fresh in_vain);
            test "other tasks of the loop run" (fresh others_have_turns);
            test "an attempt that raises" (fresh raising);
            test "none is lost, in order" none_is_lost;
            test "meeting a partner" (fresh meets);
            test "without a partner: it leaves, waits, and learns"
              (fresh meets_nobody);
            test "a partner that comes late" (fresh meets_late);
            test "meeting a failure" (fresh meets_failure);
            test "meeting, and interrupted too late" (fresh meets_interrupted);
            test "an event of meeting" event_meets;
            test "a rendezvous" rendezvous;
            test "an event" (fresh events);
            test "a choice, if all may spin" (fresh choices);
            test "in its own way" (fresh own_way);
            test "a choice, unsuccessful" (fresh choices_in_vain);
            test "timeouts are not spun for" (fresh timeouts);
          ]
        @ Interrupting.only
            (test "meeting: the resumer is interrupted"
               (fresh resumer_interrupted))
        @ Interrupting.only
            (test "meeting, and interrupted when it has taken something"
               (fresh interrupted_with_something)) );
    ]
