open Concord_test_support
open Styles_cases

let () =
  Check.run "Styles, signals"
    (List.map
       (fun (module S : Style.S) ->
         let module Cases = Interrupt_cases.Make (S) in
         (S.name, Cases.cases))
       Style.all)
