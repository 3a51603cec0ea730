let () =
  let case (name, expected) (name', actual) =
    assert (String.equal name name');
    Alcotest.test_case name `Quick (fun () ->
        Alcotest.(check string)
          "what is forced, and the outcome" expected actual)
  in
  let cases = List.map2 case As_stdlib.results As_concord.results in
  Alcotest.run "lazy, as the compiler's" [ ("programs", cases) ]
