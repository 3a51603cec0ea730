(* Backtraces that a program prints when an exception ends it, in tasks of Eio, Domainslib
   and Lwt. The text is in [test_backtraces_hosts.expected]. *)

open Trace
open Concord
open Eio_traces
module Pool = Domainslib.Task

let with_pool domains f =
  let pool = Pool.setup_pool ~num_domains:domains () in
  Fun.protect ~finally:(fun () -> Pool.teardown_pool pool) (fun () -> f pool)

let recorded () =
  Printexc.record_backtrace true;
  work ()

let domainslib () =
  let in_pool f pool = Pool.run pool f in
  common (on "domainslib" (fun f -> with_pool 0 (in_pool f)));
  on "domainslib"
    (fun f -> with_pool 0 (fun pool -> Pool.run pool (fun () -> f pool)))
    "async, await"
    (fun pool -> Pool.await pool (Pool.async pool work));
  let case = on "domainslib" (with_pool 1) in
  let submit f pool =
    Concord_domainslib.attach pool;
    Concord_domainslib.submit pool f
  in
  case "submit" (fun pool -> Promise.await (submit recorded pool));
  case "submit, not recorded" (fun pool -> Promise.await (submit work pool));
  case "submit, from fifo" (fun pool ->
      Concord_fifo.run (fun () -> Promise.await (submit recorded pool)));
  case "submit, from eio" (fun pool ->
      Eio_main.run (fun _ -> Promise.await (submit recorded pool)))

(* Lwt passes on the exception of a callback, with the frames since the callback was called.
   Lwt keeps the backtrace only until another exception is raised. *)
let others_raise () = try ignore (raises () : int) with Boom -> ()

let lwt () =
  let case what f = case ("lwt: " ^ what) (fun () -> Concord_lwt.run f) in
  let module L = Concord_lwt in
  let fail () = outer ignore in
  let later () = Lwt.map fail (Lwt.pause ()) in
  let failing_later () =
    let promise = Promise.create () in
    Lwt.async (fun () -> L.direct (fun () -> failing promise work));
    promise
  in
  let put_later () =
    let box = Mvar.create () in
    Mvar.take box;
    Lwt.async (fun () -> Lwt.bind (Lwt.pause ()) (L.Mvar.put box));
    box
  in
  case "map" later;
  case "bind" (fun () ->
      Lwt.bind (Lwt.pause ()) (fun () -> Lwt.return (fail ())));
  case "Mvar.take" (fun () -> Lwt.map fail (L.Mvar.take (put_later ())));
  case "Mvar.take, Lwt.finalize" (fun () ->
      Lwt.finalize
        (fun () -> Lwt.map fail (L.Mvar.take (put_later ())))
        Lwt.pause);
  case "map, others raise then" (fun () ->
      Lwt.finalize later (fun () -> Lwt.map others_raise (Lwt.pause ())));
  case "direct, others raise then" (fun () ->
      Lwt.finalize
        (fun () -> L.direct work)
        (fun () -> Lwt.map others_raise (Lwt.pause ())));
  case "Promise.await, others raise" (fun () ->
      let promise = failing_later () in
      L.direct (fun () ->
          (try Promise.await promise with Boom -> 1) |> ignore;
          others_raise ();
          Promise.await promise));
  case "sync, wrap" (fun () ->
      L.sync (Event.wrap (Mvar.take_evt (put_later ())) fail));
  case "sync, wrap that waits" (fun () ->
      L.sync (Event.wrap (Mvar.take_evt (put_later ())) work));
  case "Promise.await" (fun () -> L.Promise.await (failing_later ()));
  case "Promise.await, resolved" (fun () -> L.Promise.await (failed fail));
  case "Mutex.protect" (fun () ->
      L.Mutex.protect (Mutex.create ()) (fun () -> L.direct work));
  case "called, no wait" (fun () ->
      calls (fun () ->
          Lwt.bind Lwt.return_unit (fun () -> Lwt.return (raises ()))));
  case "called, waited" (fun () ->
      calls (fun () ->
          Lwt.bind (Lwt.pause ()) (fun () -> Lwt.return (raises ()))));
  case "direct" (fun () -> L.direct work);
  case "direct, below match_with" (fun () ->
      L.direct (fun () -> with_match_with work));
  case "direct, block raises" (fun () -> L.direct block_raises);
  case "direct, resumed with an Error" (fun () -> L.direct resumed_with_error);
  case "direct, Concord_fifo.run" (fun () ->
      L.direct (fun () -> Concord_fifo.run work));
  case "direct, another domain" (fun () ->
      L.direct (fun () ->
          from_domain ~record:true (fun () -> Concord_fifo.run work)));
  case "Lwt_direct" (fun () -> Lwt_direct.spawn work);
  case "to_lwt" (fun () -> L.to_lwt (failing_later ()));
  case "of_lwt, direct" (fun () ->
      L.direct (fun () -> Promise.await (L.of_lwt (later ()))));
  case "direct, of another task" (fun () ->
      let promise = failing_later () in
      L.direct (fun () -> Promise.await promise))

let () =
  Printexc.record_backtrace true;
  eio "eio";
  domainslib ();
  lwt ()
