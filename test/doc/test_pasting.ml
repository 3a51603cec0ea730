(* The input that the toplevel of ./dev utop gets from these lines. A line marked with [!] is
   the last one that is available for now. *)

let read lines =
  let t = Pasting.create () in
  let read line =
    match String.length line - 1 with
    | last when last >= 0 && line.[last] = '!' ->
        Pasting.line t ~more:false (String.sub line 0 last)
    | _ -> Pasting.line t ~more:true line
  in
  let read = List.filter_map read lines in
  read @ Option.to_list (Pasting.ending t)

let case name lines expected =
  Alcotest.test_case name `Quick @@ fun () ->
  Alcotest.(check (list string)) "is read" expected (read lines)

let () =
  Alcotest.run "Pasting"
    [
      ( "input of the toplevel",
        [
          case "typed phrases"
            [ "let x ="; "1"; ";;"; "x" ]
            [ "let x ="; "1"; ";;"; "x" ];
          case "examples with answers"
            [ "  # 1;;"; "  - : int = 1"; "  # 2;;"; "  - : int = 2!" ]
            [ "1;;"; "2;;" ];
          case "examples without ;;"
            [ "# let x ="; "    1"; ""; "    + 1"; "val x : int"; "# x"; "- !" ]
            [ "let x ="; "    1"; ""; "    + 1"; ";;"; "x"; ";;" ];
          case "two phrases, one answer" [ "# 1"; "# 2"; "- !" ]
            [ "1"; ";;\n2"; ";;" ];
          case "an example at the end of the input" [ "# 1" ] [ "1"; ";;" ];
          case "typed after an example"
            [ "# 1;;"; "- : int = 1!"; "x + 1;;" ]
            [ "1;;"; "x + 1;;" ];
          case "typed after an example without answers" [ "# 1;;!"; "x + 1;;" ]
            [ "1;;"; "x + 1;;" ];
          case "a directive" [ "#use \"f.ml\";;" ] [ "#use \"f.ml\";;" ];
        ] );
    ]
