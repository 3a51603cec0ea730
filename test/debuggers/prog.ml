(* A task that calls [leaf] below a handler of its own. The page "Effects in ten minutes" shows
   what debuggers say about such a task. *)

let[@inline never] leaf n = Sys.opaque_identity n

let[@inline never] task () =
  let n = leaf 1 in
  Sys.opaque_identity (n + 1)

let[@inline never] below f =
  let n =
    Effect.Deep.match_with f ()
      {
        retc = Fun.id;
        exnc = raise;
        effc = (fun (type a) (_ : a Effect.t) -> None);
      }
  in
  Sys.opaque_identity (n + 1)

let () = assert (Concord_fifo.run (fun () -> below task) = 3)
