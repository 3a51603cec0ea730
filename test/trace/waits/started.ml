open Concord_test_support
open Check
open Concord_waits

(* --- Programs ----------------------------------------------------------------- *)

type child = { pid : int; input : out_channel; output : in_channel }

let environment debug =
  let is_other binding =
    not (String.starts_with ~prefix:"CONCORD_DEBUG=" binding)
  in
  let others = List.filter is_other (Array.to_list (Unix.environment ())) in
  Array.of_list (("CONCORD_DEBUG=" ^ debug) :: others)

(* [errors] is a file for the standard error. *)
let during ?(debug = "") ?errors program args f =
  let in_read, in_write = Unix.pipe ~cloexec:true () in
  let out_read, out_write = Unix.pipe ~cloexec:true () in
  let err =
    match errors with
    | Some file -> Unix.openfile file [ O_WRONLY; O_CLOEXEC ] 0
    | None -> Unix.dup ~cloexec:true Unix.stderr
  in
  let pid =
    Unix.create_process_env program
      (Array.of_list (program :: args))
      (environment debug) in_read out_write err
  in
  List.iter Unix.close [ in_read; out_write; err ];
  let input = Unix.out_channel_of_descr in_write
  and output = Unix.in_channel_of_descr out_read in
  Fun.protect
    ~finally:(fun () ->
      (try Unix.kill pid Sys.sigkill with Unix.Unix_error _ -> ());
      (try ignore (Unix.waitpid [] pid : int * Unix.process_status)
       with Unix.Unix_error (ECHILD, _, _) -> ());
      close_out_noerr input;
      close_in_noerr output)
    (fun () -> f { pid; input; output })

let rec says child text =
  if input_line child.output <> text then says child text

let report child =
  output_string child.input "report\n";
  flush child.input;
  let rec lines () =
    match input_line child.output with "end" -> [] | line -> line :: lines ()
  in
  lines ()

let find { pid; _ } = Shown.found (Finder.find pid)

let targets child =
  (Finder.find child.pid).waits
  |> List.concat_map (fun { Finder.targets; _ } -> targets)
  |> List.map (fun { Finder.operation; name; _ } -> Shown.target operation name)
  |> List.sort compare

(* --- Comparison ------------------------------------------------------------------ *)

(* The lists are sorted. *)
let rec without all others =
  match (all, others) with
  | [], _ -> []
  | all, [] -> all
  | a :: all, b :: others when a = b -> without all others
  | a :: all, (b :: _ as others) when a < b -> a :: without all others
  | all, _ :: others -> without all others

(* From outside, the stack of a suspended task ends where its scheduler began it. The report also
   has the lines of the task that started the scheduler. So a wait without a line equals one that
   has a line. *)
let rec without_lines found reported =
  match found with
  | [] -> ([], reported)
  | line :: rest -> (
      let what = Shown.without_line line in
      let is_it other = Shown.without_line other = what in
      match List.partition is_it reported with
      | _ :: others, rest_reported when not (Shown.has_line line) ->
          without_lines rest (others @ rest_reported)
      | _ ->
          let invented, missed = without_lines rest reported in
          (line :: invented, missed))

(* While its tasks wait, a loop within a task of another host waits too. That is not an operation, so
   it isn't found. Its tasks are. *)
let is_of_task line = not (contains line "Concord_fifo.run @")

let difference reported found =
  let reported = List.filter is_of_task reported in
  let invented, missed =
    without_lines (without found reported) (without reported found)
  in
  List.map (( ^ ) "missed   ") missed @ List.map (( ^ ) "invented ") invented

(* A task that spins in a queue is in the queue before it waits. *)
let same what reported found =
  let last = ref [] in
  match
    eventually what (fun () ->
        last := difference (reported ()) (found ());
        !last = [])
  with
  | () -> ()
  | exception e ->
      List.iter prerr_endline !last;
      raise e

(* --- The cases of a program ------------------------------------------------------- *)

let found program ~least =
  let prepared = ref [] in
  let of_prepared () =
    during ~debug:"waits" program [ "collect" ] @@ fun child ->
    says child "ready";
    same "the report, and what is found"
      (fun () -> report child)
      (fun () -> find child);
    prepared := find child;
    yes "waits" (List.length !prepared >= least)
  in
  let of_plain args () =
    during program args @@ fun child ->
    says child "ready";
    same "the report of the prepared program, and what is found"
      (fun () -> !prepared)
      (fun () -> find child)
  in
  [
    test "those of a prepared program" of_prepared;
    test "those of the same program, started plainly" (of_plain []);
    test "those of the same program, after a collection"
      (of_plain [ "collect" ]);
  ]

(* In a container, ptrace may be forbidden. *)
let is_allowed () =
  during "./plain.exe" [] @@ fun child ->
  says child "ready";
  match Finder.find child.pid with
  | (_ : Finder.found) -> true
  | exception Refused.Refused text when contains text "may not read" -> false

let run_if_allowed name suites =
  if is_allowed () then run name (suites ())
  else
    prerr_endline
      "left out: this system doesn't let a process read another one (ptrace)"
