(* concord-eio is among the libraries, but no line names it. *)

open Concord
open Concord.Tools

let () =
  let cleaning = Promise.create () and box = Mvar.create_empty () in
  let clean_up () =
    Promise.fill cleaning ();
    print_endline (Suspend.protect (fun () -> Mvar.take box))
  in
  let task () = Fun.protect ~finally:clean_up Eio.Fiber.await_cancel in
  (* Eio runs a cancelled fiber before these two yields are over. So an unprotected wait would
     be ended by its cancellation. *)
  let helper () =
    Promise.await cleaning;
    Eio.Fiber.yield ();
    Eio.Fiber.yield ();
    Mvar.put box "the clean-up waited"
  in
  Eio_main.run @@ fun _ ->
  Eio.Fiber.both (fun () -> Eio.Fiber.first task ignore) helper
