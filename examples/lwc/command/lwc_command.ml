open Cmdliner
open Lwc

let show result =
  let text a = String.concat " " (List.map string_of_int (Array.to_list a)) in
  let n = Array.length result in
  if n = 0 then "nothing"
  else if n <= 12 then text result
  else
    Printf.sprintf "%s ... %s"
      (text (Array.sub result 0 6))
      (text (Array.sub result (n - 3) 3))

let timed what f =
  let before = Unix.gettimeofday () in
  let v = f () in
  Printf.printf "%s: %.3f s\n%!" what (Unix.gettimeofday () -. before);
  v

let run program ~style ~n ~only_setup =
  let (module In_style : Program.S) = Program.in_style program style in
  let (module Written : Program.WRITTEN) = program in
  match
    let network = timed "set-up" (fun () -> In_style.setup n) in
    if only_setup then None
    else Some (timed "run" (fun () -> In_style.run network))
  with
  | exception Sys_error message ->
      Printf.eprintf "%s\n%!" message;
      1
  | None ->
      In_style.forget ();
      0
  | Some result when result = Written.sequential n ->
      Printf.printf "result: %s\nas computed sequentially: yes\n" (show result);
      0
  | Some result ->
      Printf.printf
        "result: %s\nas computed sequentially: no, that result is %s\n"
        (show result)
        (show (Written.sequential n));
      1

(* --- The command line --- *)

let style =
  let names = String.concat ", " (List.map fst Style.all) in
  Arg.(
    value
    & opt (enum Style.all) (List.assoc "trampoline" Style.all)
    & info [ "style" ] ~docv:"STYLE" ~absent:"trampoline"
        ~doc:(Printf.sprintf "The kind of threads, one of %s." names))

let up_to largest =
  let parse text =
    match Arg.conv_parser Arg.int text with
    | Ok n when n >= 0 && n <= largest -> Ok n
    | Ok _ -> Error (`Msg (Printf.sprintf "must be from 0 to %d" largest))
    | Error _ as error -> error
  in
  Arg.conv (parse, Arg.conv_printer Arg.int)

let n ~size ~largest ~default =
  Arg.(value & opt (up_to largest) default & info [ "n" ] ~docv:"N" ~doc:size)

let only_setup =
  Arg.(
    value & flag & info [ "d" ] ~doc:"Spawn the threads, but don't start them.")

let main ~name ~doc ~size ~largest ~default program =
  let run style n only_setup = run program ~style ~n ~only_setup in
  let command =
    Cmd.v
      (Cmd.info name ~doc
         ~man:
           [
             `S Manpage.s_description;
             `P
               "Runs a program of \"Light Weight Concurrency in OCaml\" on the \
                threads of any style of concord-schedulers.styles. It prints \
                its time and its result, and compares the result with a \
                sequential computation. If they differ, it exits with code 1.";
           ])
      Term.(const run $ style $ n ~size ~largest ~default $ only_setup)
  in
  exit (Cmd.eval' command)
