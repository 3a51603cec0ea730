(* One suite over each signature, for each style. *)

open Concord_test_support
open Styles_cases

let () =
  Check.run "Styles"
    (List.map
       (fun (module S : Style.S) ->
         let module Cases = Style_cases.Make (S) in
         let module Moving = Moving.Make (S) in
         (S.name, Cases.cases @ Moving.cases))
       Style.all
    @ List.map Direct_cases.suite Style.direct
    @ Indirect_cases.suites
    @ List.map Nested.suite Style.all)
