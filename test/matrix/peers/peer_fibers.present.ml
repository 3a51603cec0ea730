(* The common part of fibers of Picos and tasks of Moonpool's pools. *)

open Picos_std_structured

let cancel =
  Some
    (fun f ~after ->
      Flock.join_after @@ fun () ->
      let begun = Concord.Promise.create () in
      let task =
        Flock.fork_as_promise (fun () ->
            Concord.Promise.fill begun ();
            f ())
      in
      Concord.Promise.await begun;
      after ();
      Promise.terminate task)
