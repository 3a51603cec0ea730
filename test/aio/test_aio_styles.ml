(* Threads of every style, a task, a system thread and a domain wait for descriptors by the
   events, each beside others of its kind that go on. *)

open Concord
open Concord_test_support
open Check
open Styles_cases
module Aio = Concord_aio

let byte fd = ignore (Unix.write_substring fd "x" 0 1 : int)

let until_waiting n =
  eventually "they wait" (fun () -> Concord_aio__Readiness.waiting () = n)

let with_pipe f =
  let from, to_ = Unix.pipe ~cloexec:true () in
  f from to_;
  Aio.close from;
  Aio.close to_

module Make (S : Style.S) = struct
  open S

  let run fs =
    List.iter spawn fs;
    start ()

  (* The writer is a thread of the same set, and goes on meanwhile. *)
  let within () =
    with_pipe @@ fun from to_ ->
    traced [ "writes"; "ready" ] @@ fun say ->
    run
      [
        (fun () ->
          let* () = sync (Aio.readable_evt from) in
          say "ready";
          return ());
        (fun () ->
          let* () = yield () in
          say "writes";
          byte to_;
          return ());
      ]

  (* Until a thread outside writes, the whole set waits. *)
  let from_outside () =
    with_pipe @@ fun from to_ ->
    let join =
      thread (fun () ->
          until_waiting 1;
          byte to_)
    in
    run [ (fun () -> sync (Aio.readable_evt from)) ];
    join ()

  let choice () =
    with_pipe @@ fun from to_ ->
    let box = Mvar.create_empty () in
    let choose seconds =
      sync
        (Event.choose
           [
             Event.wrap (Mvar.take_evt box) (fun () -> "message");
             Event.wrap (Aio.readable_evt from) (fun () -> "descriptor");
             Event.wrap (Event.timeout seconds) (fun () -> "timeout");
           ])
    in
    traced [ "timeout"; "message"; "descriptor" ] @@ fun say ->
    run
      [
        (fun () ->
          let* what = choose 0.01 in
          say what;
          let* () = put box () in
          let* what = choose 60. in
          say what;
          byte to_;
          let* what = choose 60. in
          say what;
          return ());
      ]

  let wait from () =
    run [ (fun () -> sync (Aio.readable_evt from)); (fun () -> yield ()) ]

  let tests =
    ( name,
      [
        test "written by another of the set" within;
        test "written from outside" from_outside;
        test "choice" choice;
      ] )
end

(* All wait at once, each for a descriptor of its own and for one that they share. *)
let together () =
  with_pipe @@ fun shared to_shared ->
  let of_styles =
    List.map
      (fun (module S : Style.S) ->
        let module Cases = Make (S) in
        Cases.wait)
      Style.all
  in
  let wait from () = Event.sync (Aio.readable_evt from) in
  let others =
    [
      wait;
      (fun from () -> Concord_fifo.run (wait from));
      (fun from () -> Aio.run (wait from));
    ]
  in
  let waits = of_styles @ others in
  let own = List.map (fun _ -> Unix.pipe ~cloexec:true ()) waits in
  let one wait (from, _) () =
    wait from ();
    wait shared ()
  in
  let in_domain_too = domain (one wait (List.hd own)) in
  let joins = List.map2 (fun wait own -> thread (one wait own)) waits own in
  let n = List.length waits + 1 in
  until_waiting n;
  List.iter (fun (_, to_) -> byte to_) own;
  (* those that wait now do so for the other one *)
  until_waiting n;
  byte to_shared;
  List.iter (fun join -> join ()) joins;
  in_domain_too ();
  List.iter
    (fun (from, to_) ->
      Aio.close from;
      Aio.close to_)
    own;
  int "nobody waits" 0 (Concord_aio__Readiness.waiting ())

let () =
  let suite (module S : Style.S) =
    let module Cases = Make (S) in
    Cases.tests
  in
  Check.run "aio: styles"
    (List.map suite Style.all @ [ ("all", [ test "together" together ]) ])
