(* Opens its first argument, a page, in Chromium without a window, and fails if the console shows an
   error, if a picture is not drawn, or if anything is asked for that is not on
   the disk; and fails if it finds none of these in the second one. Where Chromium
   is not installed it says so and passes. *)

module Browser = Concord_test_browser

let absolute file =
  if Filename.is_relative file then Filename.concat (Sys.getcwd ()) file
  else file

exception Stop of string list

(* Not [exit]: the browser has to be ended before. *)
let stop_with lines = raise (Stop lines)

(* That it would see them. *)
let check_that_it_sees_faults browser page =
  Browser.visit browser page;
  let faults = Browser.faults browser in
  let is_seen start = List.exists (String.starts_with ~prefix:start) faults in
  let unseen =
    List.filter
      (fun start -> not (is_seen start))
      [ "console.error"; "not drawn: file"; "asked for: http" ]
  in
  if unseen <> [] then stop_with ("not seen:" :: unseen)

let main () =
  let page = absolute Sys.argv.(1) and broken = absolute Sys.argv.(2) in
  if not (Browser.is_installed ()) then
    print_endline "chromium is not installed: the page was not opened"
  else
    Browser.run (fun browser ->
        check_that_it_sees_faults browser broken;
        Browser.visit browser page;
        match (Browser.pictures browser, Browser.faults browser) with
        | [], [] when Bench_page.Plot.is_possible () ->
            stop_with [ "the page has no picture" ]
        | _, [] -> ()
        | _, faults -> stop_with faults)

let () =
  try main ()
  with Stop lines ->
    List.iter print_endline lines;
    exit 1
