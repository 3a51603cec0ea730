(* How waits end without data, because they are cancelled or the descriptor is closed. Nothing
   must remain. *)

open Concord
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

let bad_descriptor = Unix.Unix_error (EBADF, "poll", "")
let closed = Sys_error "Bad file descriptor"

(* --- Cancelled -------------------------------------------------------------- *)

(* Starts the function in a task that waits. The result cancels the task and waits for its end. *)
type host = {
  name : string;
  run : (((unit -> unit) -> unit -> unit) -> unit) -> unit;
}

let fifo_tasks start =
  start (fun f ->
      let task = Fifo.fork f in
      fun () ->
        Fifo.cancel task;
        Fifo.join task)

let eio_fibers start =
  start (fun f () ->
      Eio.Fiber.first f (fun () ->
          eventually "it waits" ~pause:Eio.Fiber.yield (fun () ->
              waiting () > 0)))

let hosts =
  [
    { name = "run"; run = (fun f -> Aio.run (fun () -> fifo_tasks f)) };
    { name = "fifo"; run = (fun f -> Fifo.run (fun () -> fifo_tasks f)) };
    { name = "eio"; run = (fun f -> Eio_main.run (fun _ -> eio_fibers f)) };
    {
      name = "eio in run";
      run = (fun f -> Aio.run (fun () -> Eio_main.run (fun _ -> eio_fibers f)));
    };
  ]

let on_each name f =
  (name, List.map (fun { name; run } -> test name (fun () -> run f)) hosts)

(* The task is unwound, the data remains for the next task, and no waiter remains. *)
let cancelled operation fork =
  with_pipe @@ fun from to_ ->
  let unwound = ref false in
  let cancel =
    fork (fun () ->
        Fun.protect
          ~finally:(fun () -> unwound := true)
          (fun () -> operation from))
  in
  cancel ();
  yes "unwound" !unwound;
  put to_ "x";
  strings "nothing is lost" [ "x" ] [ get from ];
  Aio.close from;
  Aio.close to_

let read from = ignore (get from : string)
let choice from = Event.(select [ Aio.readable_evt from; timeout 1000.; never ])

(* The part of a line that has come stays in the channel. *)
let cancelled_line fork =
  with_pipe @@ fun from to_ ->
  let ic = Aio.in_channel_of_descr from in
  put to_ "one\ntw";
  let cancel =
    fork (fun () ->
        strings "first" [ "one" ] [ Aio.input_line ic ];
        ignore (Aio.input_line ic : string))
  in
  cancel ();
  put to_ "o\n";
  strings "whole" [ "two" ] [ Aio.input_line ic ];
  Aio.close_in ic;
  Aio.close to_

(* The clean-up closes both channels at once. *)
let cancelled_copy fork =
  let before = descriptors () in
  with_pipe @@ fun from to_ ->
  with_pipe @@ fun from' to_' ->
  let ic = Aio.in_channel_of_descr from
  and oc = Aio.out_channel_of_descr to_' in
  put to_ "a line\n";
  let cancel = fork (fun () -> Slides_async.copy ic oc) in
  cancel ();
  raises "closed" closed (fun () -> Aio.input_char ic);
  raises "closed too" closed (fun () -> Aio.output_char oc 'x');
  Aio.close to_;
  Aio.close from';
  no_more_than before

let thousand_cancelled fork =
  with_pipe @@ fun from to_ ->
  for _ = 1 to 1000 do
    (fork (fun () -> choice from)) ()
  done;
  until_waiting 0;
  Aio.close from;
  Aio.close to_

(* --- Closed ----------------------------------------------------------------- *)

let ended f =
  let got = ref None in
  ( (fun () ->
      match f () with
      | _ -> Alcotest.fail "it continued"
      | exception e -> got := Some e),
    fun expected ->
      match !got with
      | Some e when e = expected -> ()
      | Some e -> Alcotest.fail (Printexc.to_string e)
      | None -> Alcotest.fail "it still waits" )

(* A thread closes it, whatever the host is. *)
let close_beside run () =
  with_pipe @@ fun from to_ ->
  let f, check = ended (fun () -> get from) in
  let join =
    thread (fun () ->
        until_waiting 1;
        Aio.close from)
  in
  run f;
  check bad_descriptor;
  join ();
  Aio.close to_

let close_channel_beside run () =
  let before = descriptors () in
  with_pipe @@ fun from to_ ->
  let ic = Aio.in_channel_of_descr from in
  let f, check = ended (fun () -> Aio.input_line ic) in
  let join =
    thread (fun () ->
        until_waiting 1;
        Aio.close_in ic;
        Aio.close_in ic)
  in
  run f;
  check closed;
  join ();
  Aio.close to_;
  no_more_than before

let places : (string * ((unit -> unit) -> unit)) list =
  [
    ("run", Aio.run);
    ("fifo", fun f -> Fifo.run f);
    ("thread", in_thread);
    ("domain", in_domain);
    ("run in a domain", fun f -> in_domain (fun () -> Aio.run f));
    ("eio", fun f -> Eio_main.run (fun _ -> f ()));
  ]

let in_each name case =
  (name, List.map (fun (place, run) -> test place (case run)) places)

(* Two domains, each with a loop. Each waits for what the other writes. *)
let two_loops () =
  with_pipe @@ fun from to_ ->
  with_pipe @@ fun from' to_' ->
  let play ~first from to_ () =
    Aio.run @@ fun () ->
    if first then put to_ "x";
    for _ = 1 to 100 do
      strings "ball" [ "x" ] [ get from ];
      put to_ "x"
    done
  in
  let join = domain (play ~first:false from to_') in
  play ~first:true from' to_ ();
  join ();
  List.iter Aio.close [ from; to_; from'; to_' ]

(* A domain that posts all the time must not keep the poller from ready descriptors. *)
let flooded () =
  with_pipe @@ fun from to_ ->
  let over = Atomic.make false in
  let poller = Concord_aio__Shared_poller.get () in
  let flood () =
    while not (Atomic.get over) do
      Concord_aio__Poller.count_withdrawn poller Unix.stdin
    done
  in
  let join_flood = domain flood in
  let join = thread (fun () -> strings "read" [ "x" ] [ get from ]) in
  eventually "it waits" (fun () -> waiting () > 0);
  put to_ "x";
  join ();
  Atomic.set over true;
  join_flood ();
  List.iter Aio.close [ from; to_ ]

(* --- Backtraces, files, names ----------------------------------------------- *)

let[@inline never] my_own_frame ic =
  let line = Aio.input_line ic in
  line ^ "."

let backtrace run () =
  with_pipe @@ fun from to_ ->
  let join =
    thread (fun () ->
        until_waiting 1;
        Aio.close to_)
  in
  run (fun () ->
      Printexc.record_backtrace true;
      let ic = Aio.in_channel_of_descr from in
      raises_at "my_own_frame" (fun () -> my_own_frame ic);
      Aio.close_in ic);
  join ()

let files () =
  temp @@ fun name ->
  Aio.run @@ fun () ->
  let text = String.init 200_000 (fun i -> Char.chr (i land 255)) in
  Aio.with_open_out name (fun oc -> Aio.output_string oc text);
  Aio.with_open_in name (fun ic ->
      int "length" 200_000 (Aio.in_channel_length ic);
      yes "all" (Aio.really_input_string ic 200_000 = text);
      raises "the end" End_of_file (fun () -> Aio.input_char ic));
  Aio.with_file name [ O_RDONLY ] 0 (fun fd ->
      let b = Bytes.create 10 in
      int "by descriptor" 10 (Aio.read fd b 0 10));
  (* Stdlib does the same with a closed channel. *)
  let oc = Aio.open_out name in
  Aio.close_out oc;
  Aio.close_out oc;
  Aio.close_out_noerr oc;
  Aio.flush oc

let names () =
  Aio.run @@ fun () ->
  match Aio.getaddrinfo "127.0.0.1" "80" [ AI_NUMERICHOST ] with
  | { ai_addr = ADDR_INET (_, 80) as address; _ } :: _ ->
      let { Unix.ni_hostname; ni_service } =
        Aio.getnameinfo address [ NI_NUMERICHOST; NI_NUMERICSERV ]
      in
      strings "the name" [ "127.0.0.1"; "80" ] [ ni_hostname; ni_service ]
  | _ -> Alcotest.fail "another address"

let () =
  Check.run "aio: ends"
    [
      on_each "cancelled: read" (cancelled read);
      on_each "cancelled: choice" (cancelled choice);
      on_each "cancelled: a line" cancelled_line;
      on_each "cancelled: the slides' copy" cancelled_copy;
      on_each "cancelled: a thousand times" thousand_cancelled;
      on_each "cancelled: read_evt"
        (cancelled (fun from ->
             ignore (Event.sync (Transfer_events.read from) : string)));
      ("transfer events", Transfer_events.cases);
      in_each "closed: descriptor" close_beside;
      in_each "closed: channel" close_channel_beside;
      in_each "backtrace" backtrace;
      ( "peers",
        [
          test "half-closes" Connections.(connected half_closed);
          test "resets" Connections.(connected reset);
          test "stalls" Connections.(connected stalled);
          test "disappears" Connections.(connected broken);
          test "refuses" Connections.refused;
        ] );
      ( "other",
        [
          test "two loops" two_loops;
          test "many posts" flooded;
          test "accept_evt" Connections.accept_evt;
          test "accept_evt, of two" Connections.accept_once;
          test "files" files;
          test "getaddrinfo" names;
        ] );
    ]
