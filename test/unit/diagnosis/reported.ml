open Concord.Tools
open Concord_test_support.Check

let () = Debug.keep_waits ()
let named_so name (p : Debug.target) = p.structure = Some name
let waits_in name (wait : Debug.wait) = List.exists (named_so name) wait.targets

let all_in name (report : Debug.report) =
  List.filter (waits_in name) report.waits

let behind_in name (report : Debug.report) =
  List.filter (waits_in name) report.behind

let cycles_in name (report : Debug.report) =
  List.filter (List.exists (waits_in name)) report.cycles

(* The first report in which [n] tasks wait there. *)
let until_there name n =
  let found = ref (Debug.report ()) in
  eventually (Printf.sprintf "%d wait in %s" n name) (fun () ->
      found := Debug.report ();
      List.length (all_in name !found) = n);
  !found

let start f = ignore (Thread.create f () : Thread.t)

let is_over name box =
  Concord.Mvar.put box ();
  ignore (until_there name 0 : Debug.report);
  eventually "it has continued" (fun () ->
      not (List.exists (waits_in name) (Debug.report ()).woken))

let frames_of backtrace =
  String.split_on_char '\n' (Printexc.raw_backtrace_to_string backtrace)
