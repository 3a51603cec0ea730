(* Threads of every style, a task, a system thread and a domain wait for descriptors by events.
   Others of the same kind continue meanwhile. *)

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

  (* The writer is a thread of the same set, and continues meanwhile. *)
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

  (* The whole set waits until a thread outside writes. *)
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

(* All wait at once, each for its own descriptor and for one that they share. *)
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
  (* The threads that still wait do so for the shared one. *)
  until_waiting n;
  byte to_shared;
  List.iter (fun join -> join ()) joins;
  in_domain_too ();
  List.iter
    (fun (from, to_) ->
      Aio.close from;
      Aio.close to_)
    own;
  int "no task waits" 0 (Concord_aio__Readiness.waiting ())

(* --- Domains ---------------------------------------------------------------- *)

let lines = 200

(* Alcotest's checks can only be used by one domain at a time. *)
let expect line line' = if line <> line' then failwith line'

(* Each domain has its loop, and they share the workers. *)
let files () =
  let name = Filename.temp_file "concord" "aio" in
  let copy i () =
    let name = name ^ string_of_int i in
    Aio.run (fun () ->
        Aio.with_open_out name (fun oc ->
            for n = 1 to lines do
              Aio.output_string oc (string_of_int n ^ "\n");
              if n mod 20 = 0 then Aio.flush oc
            done);
        Aio.with_open_in name (fun ic ->
            for n = 1 to lines do
              expect (string_of_int n) (Aio.input_line ic)
            done));
    Sys.remove name
  in
  let joins = List.init 2 (fun i -> domain (copy i)) in
  copy 2 ();
  List.iter (fun join -> join ()) joins;
  Sys.remove name

(* Two domains write to one channel, and two read from another one. *)
let shared_channels () =
  let from, to_ = Unix.pipe ~cloexec:true () in
  let ic = Aio.in_channel_of_descr from and oc = Aio.out_channel_of_descr to_ in
  let write () =
    for _ = 1 to lines do
      Aio.output_string oc "a line\n";
      Aio.flush oc
    done
  in
  let rec read n =
    match Aio.input_line ic with
    | line ->
        expect "a line" line;
        read (n + 1)
    | exception End_of_file -> n
  in
  let readers = List.init 2 (fun _ -> domain (fun () -> read 0)) in
  let writer = domain write in
  write ();
  writer ();
  Aio.close_out oc;
  int "all" (2 * lines) (List.fold_left (fun n join -> n + join ()) 0 readers);
  Aio.close_in ic

(* A descriptor is closed while tasks begin to wait for it. *)
let closed_beside () =
  for _ = 1 to 100 do
    let from, to_ = Unix.pipe ~cloexec:true () in
    let ic = Aio.in_channel_of_descr from in
    let read f =
      domain (fun () ->
          f (fun () ->
              match Aio.input_char ic with
              | _ -> Alcotest.fail "it has read"
              | exception Sys_error _ -> ()))
    in
    let in_thread = read (fun f -> f ())
    and in_run = read (fun f -> Aio.run f) in
    Aio.close_in ic;
    in_thread ();
    in_run ();
    Unix.close to_
  done

let () =
  let suite (module S : Style.S) =
    let module Cases = Make (S) in
    Cases.tests
  in
  Check.run "aio: styles"
    (List.map suite Style.all
    @ [
        ("all", [ test "together" together ]);
        ( "domains",
          [
            test "files" files;
            test "shared channels" shared_channels;
            test "closed while tasks begin to wait" closed_beside;
          ] );
      ])
