(* A job in another domain waits for an Eio fiber. First it awaits a promise of Eio, which fails, and then
   a promise of Concord. README.md shows the second. *)

let with_eio ~submit ~ask =
  let promise, resolver = Eio.Promise.create () in
  let job = submit (fun () -> Eio.Promise.await promise + 1) in
  Eio.Promise.resolve resolver (ask ());
  Concord.Promise.await job

(* $MDX part-begin=concord *)
let with_concord ~submit ~ask =
  let promise = Concord.Promise.create () in
  let job = submit (fun () -> Concord.Promise.await promise + 1) in
  Concord.Promise.fill promise (ask ());
  Concord.Promise.await job
(* $MDX part-end *)

(* [ask] answers once the job has failed, or after [patience] seconds. *)
let try_ name ~patience answer =
  Eio_main.run (fun _ ->
      Concord.Workers.with_workers ~domains:1 (fun workers ->
          let failed = Concord.Promise.create () in
          let submit f =
            Concord.Workers.submit workers (fun () ->
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
