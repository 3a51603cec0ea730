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

(* The answer comes once the job has failed, or when it has had so many seconds. *)
let try_ name ~patience answer =
  Eio_main.run (fun _ ->
      Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let failed = Concord.Promise.create () in
          let submit f =
            Concord_domainslib.submit pool (fun () ->
                try f ()
                with e ->
                  Concord.Promise.fill failed ();
                  raise e)
          and ask () =
            let failed = Concord.Promise.await_evt failed in
            ignore (Concord.Event.sync_before patience failed : unit option);
            41
          in
          match answer ~submit ~ask with
          | n -> Printf.printf "%s: %d\n" name n
          | exception e -> Printf.printf "%s: %s\n" name (Printexc.to_string e)))

let () =
  try_ "Eio.Promise" ~patience:60. with_eio;
  try_ "Concord.Promise" ~patience:0.1 with_concord
