(* A descriptor is closed, and a file is opened or not, even if the task is cancelled or can't be
   suspended. *)

open Concord
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

(* Calls [f] in a task that is cancelled already, and [meanwhile] when that task waits or has
   ended. *)
let cancelled ?(meanwhile = ignore) f =
  Aio.run @@ fun () ->
  let result = ref None in
  let task =
    Fifo.fork (fun () ->
        (try Event.sync Event.never with Fifo.Cancelled -> ());
        result := Some (match f () with v -> Ok v | exception e -> Error e))
  in
  Fifo.yield ();
  Fifo.cancel task;
  Fifo.yield ();
  meanwhile ();
  Fifo.join task;
  match Option.get !result with
  | Ok v -> v
  | Error e -> Alcotest.fail (Printexc.to_string e)

(* Calls [f] where nothing can be suspended. *)
let in_callback f =
  let promise = Promise.create () and result = ref None in
  Promise.on_resolve promise (fun _ ->
      result := Some (match f () with v -> Ok v | exception e -> Error e));
  Promise.fill promise ();
  match Option.get !result with
  | Ok v -> v
  | Error e -> Alcotest.fail (Printexc.to_string e)

(* --- While the number's last file is being closed ---------------------------- *)

let cancelled_close () =
  Closing.with_number @@ fun fd end_ ->
  cancelled ~meanwhile:end_ (fun () -> Aio.close fd);
  no "open" (Closing.is_open fd)

(* If a thread has to open the file, this raises at once. *)
let cancelled_open () =
  Closing.with_number @@ fun fd end_ ->
  Unix.close fd;
  let before = open_files () in
  cancelled ~meanwhile:end_ (fun () ->
      match Aio.open_in Sys.executable_name with
      | channel ->
          yes "the same number" (Aio.descr_of_in_channel channel = fd);
          Aio.close_in channel
      | exception Fifo.Cancelled -> ());
  strings "files" before (open_files ())

let close_in_callback () =
  Closing.with_number ~linger:1 @@ fun fd _ ->
  in_callback (fun () -> Aio.close fd);
  no "open" (Closing.is_open fd)

(* The thread that closes it doesn't exist in a child. *)
let close_in_child () =
  Closing.with_number @@ fun fd _ ->
  Children.in_child (fun () ->
      Aio.close fd;
      no "open" (Closing.is_open fd))

(* --- While a loop holds the descriptor ---------------------------------------- *)

let held_in_callback () =
  Closing.with_loop @@ fun fd let_go ->
  in_callback (fun () -> Aio.close fd);
  yes "still held" (Closing.is_open fd);
  let_go ();
  no "open" (Closing.is_open fd)

let held_cancelled () =
  Closing.with_loop @@ fun fd let_go ->
  cancelled ~meanwhile:let_go (fun () -> Aio.close fd);
  no "open" (Closing.is_open fd)

(* --- Other ------------------------------------------------------------------- *)

(* If no channel can be made of the file, the file is closed. *)
let no_channel () =
  temp @@ fun name ->
  let before = open_files () in
  raises "the exception" Exit (fun () ->
      Concord_aio__Channel_file.open_ [ Open_rdonly ] 0 name (fun _ ->
          raise Exit));
  strings "files" before (open_files ())

(* One of these operations would let other tasks run. *)
let many_in_callback () =
  with_pipe @@ fun from to_ ->
  in_callback (fun () ->
      for _ = 1 to 300 do
        int "written" 1 (Aio.write_substring to_ "x" 0 1)
      done);
  List.iter Aio.close [ from; to_ ]

let () =
  Check.run "aio: uncancelled"
    [
      ( "number in use",
        [
          test "close, cancelled" cancelled_close;
          test "open_in, cancelled" cancelled_open;
          test "close, in a callback" close_in_callback;
          test "close, in a child process" close_in_child;
        ] );
      ( "held by a loop",
        [
          test "close, cancelled" held_cancelled;
          test "close, in a callback" held_in_callback;
        ] );
      ( "other",
        [
          test "no channel" no_channel;
          test "many operations in a callback" many_in_callback;
        ] );
    ]
