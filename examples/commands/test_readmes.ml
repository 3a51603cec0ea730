(* Runs the commands that the READMEs of the examples show, as they stand there. Left out without
   curl, and for an example whose libraries are not installed. *)

let has_curl = Sys.command "command -v curl >/dev/null" = 0

(* The output of each command has to contain a text. Each command with such a text has to be
   there. *)
let case ?again name ~ports expected =
  Alcotest.test_case name `Quick @@ fun () ->
  let program = Printf.sprintf "../%s/%s.exe" name name in
  if not (has_curl && Sys.file_exists program) then begin
    Printf.printf "curl or %s is not there: left out\n" program;
    Alcotest.skip ()
  end;
  let seen = ref [] in
  Shown_commands.run ?again
    ~readme:(Printf.sprintf "../%s/README.md" name)
    ~programs:[ (name, program) ]
    ~ports
    (fun command output ->
      match
        List.find_opt (fun (part, _) -> Texts.contains command ~part) expected
      with
      | None -> ()
      | Some (part, text) ->
          seen := part :: !seen;
          if not (Texts.contains output ~part:text) then
            Alcotest.failf "%s has the output %S, without %S" command output
              text);
  Alcotest.(check (list string))
    "commands that were run"
    (List.sort compare (List.map fst expected))
    (List.sort_uniq compare !seen)

let () =
  Alcotest.run "readmes"
    [
      ( "commands",
        [
          case "ftp" ~ports:[ 2121 ] [ ("ftp://", "upload") ];
          case "node"
            ~ports:[ 7000; 7001; 7002; 8000; 8001; 8002 ]
            [
              ("/transactions", "accepted");
              ("/wait", "1 00000");
              ("/head", "1 00000");
              ("/search", "Ada pays Bob 5");
            ];
          case "service" ~again:"/jobs  " ~ports:[ 8080 ]
            [
              ("/jobs  ", "1");
              ("wait=5", "done 78498");
              ("-X DELETE", "done 78498");
              ("/events", "data: job");
              ("/metrics", "jobs_accepted");
            ];
        ] );
    ]
