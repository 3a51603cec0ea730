(* Limits of [Tasks.with_timeout] that pass just as the function returns, raises or is cancelled. *)

open Concord_test_support
open Check

let () =
  run "Tasks: limits"
    (List.map
       (fun (name, host) ->
         ( name,
           [
             test "a storm" (Limits.storm host);
             test "a storm, on another domain"
               (Limits.storm (Limits.on_a_domain host));
           ] ))
       [
         ("Fifo", Limits.fifo `Eager);
         ("Fifo, lazy", Limits.fifo `Lazy);
         ("a thread", Limits.thread);
       ])
