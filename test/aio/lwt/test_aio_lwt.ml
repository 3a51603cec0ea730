(* Closing in callbacks of Lwt, which can't be suspended. *)

open Concord_test_support
open Check
module Aio = Concord_aio

let in_callback f =
  Concord_lwt.run (fun () ->
      Lwt.bind (Lwt.pause ()) (fun () ->
          f ();
          Lwt.return_unit))

let number_in_use () =
  Closing.with_number ~linger:1 @@ fun fd _ ->
  in_callback (fun () -> Aio.close fd);
  no "open" (Closing.is_open fd)

let held () =
  Closing.with_loop @@ fun fd let_go ->
  in_callback (fun () -> Aio.close fd);
  yes "still held" (Closing.is_open fd);
  let_go ();
  no "open" (Closing.is_open fd)

let () =
  Check.run "aio: in callbacks of Lwt"
    [
      ( "close",
        [
          test "of a number in use" number_in_use;
          test "of what a loop holds" held;
        ] );
    ]
