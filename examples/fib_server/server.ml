(* The accept loop and the end of the service. *)

open Eio.Std

exception Grace_is_over

let rec accept_loop t ~sw ~slots socket handle =
  Eio.Semaphore.acquire slots;
  let release () = Eio.Semaphore.release slots in
  (match
     Eio.Net.accept_fork ~sw socket
       ~on_error:(fun e -> t.Connection.log (Printexc.to_string e))
       (fun client _address ->
         Fun.protect ~finally:release @@ fun () ->
         Connection.serve t handle client)
   with
  | () -> ()
  | exception (Eio.Io _ as e) ->
      (* Out of descriptors, say: trying again at once would fail again at
         once, and for as long as it lasts. *)
      t.log ("cannot accept: " ^ Printexc.to_string e);
      release ();
      Eio.Time.Mono.sleep t.clock 1.);
  accept_loop t ~sw ~slots socket handle

let run (t : Connection.config) ~max_connections ~grace socket handle =
  let slots = Eio.Semaphore.make max_connections in
  try
    Switch.run @@ fun sw ->
    Fiber.first
      (fun () -> accept_loop t ~sw ~slots socket handle)
      (fun () -> Concord.Promise.await t.drain);
    Eio.Net.close socket;
    Fiber.fork_daemon ~sw @@ fun () ->
    Eio.Time.Mono.sleep t.clock grace;
    Switch.fail sw Grace_is_over;
    `Stop_daemon
  with Grace_is_over ->
    t.log (Printf.sprintf "requests were cut off after %g s" grace)
