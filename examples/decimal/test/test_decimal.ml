(* Checks the numbers, and that no other example reads a number from foreign text in its own
   way. *)

let numbers () =
  let int = Alcotest.(check (option int)) in
  List.iter
    (fun (text, number) -> int text number (Decimal.int text))
    [
      ("0", Some 0);
      ("007", Some 7);
      ("10", Some 10);
      (string_of_int max_int, Some max_int);
      ( "4611686018427387904",
        if Sys.int_size = 63 then None else Some (1 lsl 62) );
      ("9223372036854775807", if Sys.int_size = 63 then None else Some max_int);
      ("18446744073709551615", None);
      ("99999999999999999999", None);
    ];
  int "too large" (Some max_int) (Decimal.int_or_max "99999999999999999999");
  int "large" (Some 10) (Decimal.int_or_max "10");
  List.iter
    (fun text ->
      int text None (Decimal.int text);
      int text None (Decimal.int_or_max text);
      Alcotest.(check (option (float 0.))) text None (Decimal.seconds text))
    [
      "";
      "-1";
      "-0";
      "+5";
      "1_0";
      "_1";
      "0x1f";
      "0X1";
      "0b1";
      "0o7";
      "0u9";
      " 1";
      "1 ";
      "1\n";
      "1\000";
      "1e3";
      "0x1p3";
      "nan";
      "inf";
      "-inf";
      "infinity";
      "\217\161";
    ]

let seconds () =
  List.iter
    (fun (text, number) ->
      Alcotest.(check (option (float 0.))) text number (Decimal.seconds text))
    [
      ("0", Some 0.);
      ("5", Some 5.);
      ("0.25", Some 0.25);
      ("1.", None);
      (".5", None);
      ("1.5.2", None);
      ("1.-5", None);
      ("1._5", None);
      (String.make 400 '9', None);
    ]

(* --- The other examples --- *)

let readers =
  [
    "int_of_string";
    "float_of_string";
    "Int64.of_string";
    "Int32.of_string";
    "scanf";
  ]

(* The text comes from the program itself, from a program that it has started, or from the
   system. *)
let exceptions =
  [
    ("decimal/decimal.ml", "checks the text before");
    ("eio_domains/eio_domains.ml", "lines that the program itself wrote");
    ("fib_server/demo/timeline.ml", "a header of the measured server");
    ("fib_server/measure/server_process.ml", "the line of the measured server");
    ("http/message/message.ml", "the size of a chunk, whose digits it checks");
    ("http/process_time/process_time.ml", "a file of the system");
    ("service/plain/compare.ml", "the output and the database of its servers");
  ]

let contains text ~part =
  let length = String.length part in
  let rec from i =
    i + length <= String.length text
    && (String.sub text i length = part || from (i + 1))
  in
  from 0

let rec sources folder name =
  let path = Filename.concat folder name in
  if Sys.is_directory path then
    if name = "test" then []
    else
      List.concat_map
        (fun child -> sources folder (Filename.concat name child))
        (List.sort compare (Array.to_list (Sys.readdir path)))
  else if Filename.check_suffix name ".ml" then [ name ]
  else []

let is_test name = List.mem "test" (String.split_on_char '/' name)

let no_other_readers () =
  let root = "../.." in
  let names =
    List.concat_map (sources root) (Array.to_list (Sys.readdir root))
  in
  let reads name =
    let text =
      In_channel.with_open_bin (Filename.concat root name) In_channel.input_all
    in
    List.exists (fun part -> contains text ~part) readers
  in
  let found =
    List.filter (fun name -> (not (is_test name)) && reads name) names
  in
  Alcotest.(check bool) "examples are found" true (List.length names > 50);
  Alcotest.(check (list string))
    "files that read numbers without Decimal"
    (List.sort compare (List.map fst exceptions))
    (List.sort compare found)

let () =
  let case name f = Alcotest.test_case name `Quick f in
  Alcotest.run "decimal"
    [
      ("numbers", [ case "whole" numbers; case "seconds" seconds ]);
      ("examples", [ case "read numbers by Decimal" no_other_readers ]);
    ]
