(* A job of a pool waits for a fiber of Eio: with a promise of Eio, and with one of
   Concord. README.md shows both. *)

let with_eio ~submit ~ask =
  (* $MDX part-begin=eio *)
  let promise, resolver = Eio.Promise.create () in
  let job = submit (fun () -> Eio.Promise.await promise + 1) in
  Eio.Promise.resolve resolver (ask ());
  Concord.Promise.await job
(* $MDX part-end *)

let with_concord ~submit ~ask =
  (* $MDX part-begin=concord *)
  let promise = Concord.Promise.create () in
  let job = submit (fun () -> Concord.Promise.await promise + 1) in
  Concord.Promise.fill promise (ask ());
  Concord.Promise.await job
(* $MDX part-end *)

let try_ name answer =
  Eio_main.run (fun _ ->
      Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          (* The job waits first, so that the fiber has somebody to wake. *)
          let waits = Concord.Promise.create () in
          let submit f =
            Concord_domainslib.submit pool (fun () ->
                Concord.Promise.fill waits ();
                f ())
          and ask () =
            Concord.Promise.await waits;
            Eio_unix.sleep 0.1;
            41
          in
          match answer ~submit ~ask with
          | n -> Printf.printf "%s: %d\n" name n
          | exception e -> Printf.printf "%s: %s\n" name (Printexc.to_string e)))

let () =
  try_ "Eio.Promise" with_eio;
  try_ "Concord.Promise" with_concord
