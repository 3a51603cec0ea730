(* The requirements for every host. *)

open Concord_test_support
open Concord_test_hosts
open Check

let fifo f = Concord_fifo.run f
let eio f = Eio_main.run (fun _ -> f ())
let within outer place f = outer (fun () -> place f)

(* After the cancellation, other tasks of the domain don't run while a protected wait
   continues. So the tasks of these cases can't end the wait. *)
let host = In_miou.cancelling ~protects:false
let shielding = In_miou.cancelling ~protects:true

let reaching =
  Reach_cases.(
    place "Miou" suspends In_miou.run
    @ place "Miou.call" suspends In_miou.call
    @ place "Fifo in Miou" suspends (within In_miou.run fifo)
    @ place "Fifo in Miou.call" suspends (within In_miou.call fifo)
    @ place "Eio in Miou" suspends (within In_miou.run eio)
    @ place "Eio in Miou.call" suspends (within In_miou.call eio)
    @ place "Miou in Fifo" suspends (within fifo In_miou.run)
    @ place "Miou in Eio" suspends (within eio In_miou.run)
    @ place "a thread beside Miou" parks (within In_miou.run in_thread)
    @ place "a thread beside Miou.call" parks (within In_miou.call in_thread)
    @ place "a domain beside Miou" parks (within In_miou.run in_domain)
    @ place "after Miou" parks_here (fun f ->
        In_miou.run ignore;
        f ())
    @ [ test "Miou: cancelled" (cancelled shielding) ])

let in_miou (host : Cancelling.host) =
  { host with run = (fun f -> In_miou.run (fun () -> host.run f)) }

let together fs = In_miou.run (fun () -> In_miou.all fs)
let at_once f g = together [ f; g ]

(* Miou doesn't know the values, so they must not be seen by another of its tasks. *)
let values () =
  let open Storage_cases in
  let task v () =
    let check who = Alcotest.(check (option int)) who (Some v) (local.get ()) in
    let switches =
      [
        Miou.yield;
        Concord.Tasks.yield;
        (fun () -> Concord.Tasks.sleep 1e-4);
        (fun () -> ignore (Miou.await_exn (Miou.async (fun () -> ())) : unit));
      ]
    in
    yes "none before" (local.get () = None);
    local.bind (Some v) (fun () ->
        for _ = 1 to 100 do
          List.iter
            (fun switch ->
              switch ();
              check "its own")
            switches
        done;
        (try
           local.bind (Some (-v)) (fun () ->
               Miou.yield ();
               yes "bound" (local.get () = Some (-v));
               raise Boom)
         with Boom -> ());
        check "restored");
    Miou.yield ();
    yes "none after" (local.get () = None)
  in
  In_miou.run (fun () -> In_miou.all (List.init 10 task))

let run () =
  run "concord-miou, as every host"
    [
      Storage_cases.(suite kept ("Miou, Local", In_miou.run) local);
      ("Miou, values", [ test "of Miou's tasks" values ]);
      ("reaching", reaching);
      Wait_cases.on In_miou.here;
      Wait_cases.on ~in_turn:false In_miou.there;
      ( "hosts in Miou",
        [
          test "a task of Fifo, cancelled"
            (Reach_cases.cancelled (in_miou (Cancelling.fifo `Eager)));
          test "a fiber of Eio, cancelled"
            (Reach_cases.cancelled (in_miou (Cancelling.eio ~protects:true)));
        ] );
      Ready_cases.(on ~but:of_scopes (of_cancelling "Miou" host));
      Lazy_policies.suite ~runs_meanwhile:true "Lazy in Miou" host;
      ("Lazy in Miou, undefined", Lazy_undefined.within In_miou.run);
      ("Lazy in Miou.call, undefined", Lazy_undefined.within In_miou.call);
      ("Lazy in Miou, tasks", Lazy_undefined.among together);
      ("Lazy in Fifo in Miou", Lazy_undefined.within (within In_miou.run fifo));
      ("Lazy in Eio in Miou", Lazy_undefined.within (within In_miou.run eio));
      Tasks_cases.everywhere ("Miou", In_miou.run);
      Tasks_cases.everywhere ("Miou.call", In_miou.call);
      Tasks_first.everywhere ("Miou: first, timeouts, lists", In_miou.run);
      ( "Miou, beside others",
        [ test "tasks" (Tasks_cases.beside_others at_once) ] );
      Tasks_cancelled.from_outside "Miou" host;
      ("is_cancellation", [ test "Miou" (Tasks_cancelled.is_known host) ]);
      Tasks_first.from_outside "Miou: first, timeouts, lists" host;
    ]
