(* Every operation of the library, part by part of each clause, in this process. Of the parts
   that are tried at each moment of an operation, which take long, the seed draws some. *)

open Concord_test_support
open Concord_test_described

let is_between (name, _) = String.starts_with ~prefix:"between, " name

let exact operation =
  let test (name, f) = Check.test name f in
  ( operation.Operations.name ^ ", the contract",
    List.filter (Fun.negate is_between) (Described.cases operation)
    |> List.map test )

let between operation =
  List.filter is_between (Described.cases operation)
  |> List.map (fun (name, f) ->
      Check.test (operation.Operations.name ^ ": " ^ name) f)

let () =
  Check.run "The contract"
    (List.map exact Operations.all
    @ [
        ( "between any two steps",
          Race.drawn (List.concat_map between Operations.all) );
      ])
