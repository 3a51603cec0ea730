(* One suite over each signature, for each style. *)

open Styles_cases
open Concord_test_support

let () =
  Check.run "Styles"
    (List.map
       (fun (module S : Style.S) ->
         let module Cases = Style_cases.Make (S) in
         (S.name, Cases.cases))
       Style.all
    @ List.map Direct_cases.suite Style.direct)
