(* Every operation of the library, with each part of each clause, in this process. Parts that
   are tried at each moment of an operation take long, so the seed draws some of them. *)

open Concord_test_support
open Concord_test_described

let is_between (name, _) = String.starts_with ~prefix:"between, " name

(* These measure the heap, of one domain. With ThreadSanitizer they take minutes, and other
   programs that measure the heap are left out too (tools/tsan/run.sh). *)
let is_left_out (name, _) =
  Check.instrumented && String.starts_with ~prefix:"memory, " name

let cases operation =
  List.filter (Fun.negate is_left_out) (Described.cases operation)

let exact operation =
  let test (name, f) = Check.test name f in
  ( operation.Operations.name ^ ", the contract",
    List.filter (Fun.negate is_between) (cases operation) |> List.map test )

let between operation =
  List.filter is_between (cases operation)
  |> List.map (fun (name, f) ->
      Check.test (operation.Operations.name ^ ": " ^ name) f)

let () =
  Check.run "The contract"
    (List.map exact Operations.all
    @ [
        ( "between any two steps",
          Race.drawn (List.concat_map between Operations.all) );
      ])
