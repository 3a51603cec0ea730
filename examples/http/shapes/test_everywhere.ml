(* Checks that no example with an HTTP port is without the test of the shapes, and the parts of the
   reader that no request shows. *)

open Http_message

let root = "../.."
let path = Filename.concat root

let rec files folder =
  Array.to_list (Sys.readdir (path folder))
  |> List.sort compare
  |> List.concat_map (fun name ->
      let file = Filename.concat folder name in
      if Sys.is_directory (path file) then files file else [ file ])

let contains text ~part =
  let length = String.length part in
  let rec from i =
    i + length <= String.length text
    && (String.sub text i length = part || from (i + 1))
  in
  from 0

let mentions parts file =
  let text = In_channel.with_open_bin (path file) In_channel.input_all in
  List.exists (fun part -> contains text ~part) parts

let is_dune file = Filename.basename file = "dune"
let is_test file = List.mem "test" (String.split_on_char '/' file)

(* What an example needs to answer HTTP. [http] is where these libraries are. *)
let servers = [ "http_service"; "http_message"; "cohttp"; "httpun"; "h1" ]

(* Examples that are not tested so, with the reason. *)
let exceptions =
  [
    ( "drivers",
      "it shows an instance of cohttp, whose parser reads the requests, and \
       accepts shapes that ours refuses" );
  ]

let everywhere () =
  let examples =
    List.filter
      (fun name ->
        Sys.is_directory (path name)
        && name <> "http"
        && not (List.mem_assoc name exceptions))
      (List.sort compare (Array.to_list (Sys.readdir root)))
  in
  let serves name =
    List.exists
      (fun file ->
        is_dune file && (not (is_test file)) && mentions servers file)
      (files name)
  and is_tested name =
    List.exists
      (fun file -> is_dune file && mentions [ "http_shapes" ] file)
      (files name)
  in
  let serving = List.filter serves examples in
  Alcotest.(check bool) "some are found" true (List.length serving >= 5);
  Alcotest.(check (list string))
    "examples that answer HTTP, and use Http_shapes" serving
    (List.filter is_tested serving)

(* --- Targets --- *)

let targets () =
  let path = Alcotest.(check (list string)) in
  path "path" [ "a"; "b" ] (Target.path "/a/b?c=/d");
  path "URL" [ "a" ] (Target.path "HTTP://host:80/a");
  path "root" [ "" ] (Target.path "/");
  path "another scheme" [] (Target.path "ftp://host/a");
  path "no slash" [] (Target.path "a");
  path "star" [] (Target.path "*");
  let parameter target expected =
    Alcotest.(check (option string))
      target expected
      (Target.parameter target "a")
  in
  parameter "/" None;
  parameter "/?" None;
  parameter "/a=1" None;
  parameter "/?b=a" None;
  parameter "/?a" (Some "");
  parameter "/?a=" (Some "");
  parameter "/?a=1" (Some "1");
  parameter "/?b=0&a=1&a=2" (Some "1");
  parameter "/?a=b=c" (Some "b=c");
  parameter "/?%61=x%20y+z%2B%2f%C3%a9" (Some "x y z+/\195\169");
  parameter "/?a=%" (Some "%");
  parameter "/?a=%2" (Some "%2");
  parameter "/?a=%2g%-1%0x1" (Some "%2g%-1%0x1")

(* --- Descriptors --- *)

let descriptors () =
  let at_most n ~spare = Descriptors.at_most n ~spare Unix.stdin in
  Alcotest.(check int) "enough" 10 (at_most 10 ~spare:5);
  Alcotest.(check int) "again" 10 (at_most 10 ~spare:5);
  let some = at_most 100_000 ~spare:0 in
  Alcotest.(check bool) "limited" true (some >= 10);
  if some < 100_000 then begin
    Alcotest.(check int) "spare" (some - 5) (at_most 100_000 ~spare:5);
    Alcotest.(check int) "at least one" 1 (at_most 100_000 ~spare:some)
  end

let () =
  let case name f = Alcotest.test_case name `Quick f in
  Alcotest.run "http"
    [
      ("examples", [ case "use the test of the shapes" everywhere ]);
      ( "parts of the reader",
        [ case "targets" targets; case "descriptors" descriptors ] );
    ]
