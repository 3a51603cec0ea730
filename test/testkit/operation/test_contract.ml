(* Every operation of the library, part by part of each clause, in this process. *)

open Concord_test_support
open Concord_test_described

let () = Check.run "The contract" (List.map Described.suite Operations.all)
