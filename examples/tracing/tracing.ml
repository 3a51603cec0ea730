(* Fibers of Eio answer requests. Each calls jobs in other domains, these query a database by
   Lwt's loop in a domain of its own, and a thread writes to a file. The spans of all of them are
   in the trace of their request, although no function passes it on. *)

open Concord

(* A library for Lwt, which knows nothing of tracing. *)
let query db key =
  Lwt.bind (Lwt.pause ()) (fun () -> Lwt.return (List.assoc key db))

let look_up lwt key =
  Trace.in_span ("query " ^ key) (fun () ->
      Concord_lwt.call lwt (fun db ->
          (* Lwt hands the current span on to its callbacks. *)
          Lwt.bind (query db key) (fun v ->
              Trace.in_span "decode" (fun () -> Lwt.return (v * v)))))

let write v =
  Promise.await
    (Promise.in_thread (fun () ->
         Trace.in_span "write" (fun () -> ignore (Sys.opaque_identity v : int))))

let answer workers lwt number =
  Trace.start_trace number "GET /" (fun () ->
      let sum =
        Workers.run workers (fun () ->
            Trace.in_span "compute" (fun () ->
                let a, b =
                  Tasks.both
                    (fun () -> look_up lwt "a")
                    (fun () -> look_up lwt "b")
                in
                a + b))
      in
      write sum;
      Option.is_some (Trace.header ()))

let () =
  let db () = Lwt.return [ ("a", 3); ("b", 4) ] in
  Workers.with_workers ~domains:2 @@ fun workers ->
  Concord_lwt.with_domain db @@ fun lwt ->
  Eio_main.run (fun _ ->
      let headers = Eio.Fiber.List.map (answer workers lwt) [ 1; 2; 3 ] in
      assert (List.for_all Fun.id headers));
  assert (Option.is_none (Trace.header ()));
  Trace.print_all ()
