(* With an unknown version of OCaml, the stub must not claim to know any effect handler. The
   Eio cases for such a version are in test_eio_handler_unknown. *)

open Innermost_handler

(* Only this expression installs the handler. *)
let handled f =
  Effect.Deep.match_with f ()
    {
      retc = (fun () -> ());
      exnc = (fun e -> raise e);
      effc = (fun (type a) (_ : a Effect.t) -> None);
    }

let no what b = Alcotest.(check bool) what false b

let nothing_is_known () =
  handled (fun () ->
      let own = get () in
      no "readable" (is_readable ());
      no "any handler" (own != none);
      no "the innermost" (nothing_but own);
      no "the only one" (alone own);
      no "a stack around" (around () = here ());
      no "taken for right" (check stub))

(* The warning about a failed check is only for known versions. *)
let nothing_is_printed () =
  let read, write = Unix.pipe ~cloexec:true () in
  let this = Sys.executable_name in
  let child =
    Unix.create_process this [| this; "list" |] Unix.stdin Unix.stdout write
  in
  Unix.close write;
  let printed = In_channel.input_all (Unix.in_channel_of_descr read) in
  ignore (Unix.waitpid [] child : int * Unix.process_status);
  Alcotest.(check string) "on the standard error" "" printed

let () =
  let test name f = Alcotest.test_case name `Quick f in
  Alcotest.run "An unknown version of OCaml"
    [
      ( "handlers",
        [
          test "nothing is known" nothing_is_known;
          test "nothing is printed" nothing_is_printed;
        ] );
    ]
