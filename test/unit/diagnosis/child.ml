type stream = { fd : Unix.file_descr; mutable text : string }
type t = { pid : int; input : Unix.file_descr; out : stream; err : stream }

let environment debug =
  let is_other binding =
    not (String.starts_with ~prefix:"CONCORD_DEBUG=" binding)
  in
  let others = List.filter is_other (Array.to_list (Unix.environment ())) in
  let mine = Option.map (fun words -> "CONCORD_DEBUG=" ^ words) debug in
  Array.of_list (Option.to_list mine @ others)

let start debug program role =
  let in_read, in_write = Unix.pipe ~cloexec:true () in
  let out_read, out_write = Unix.pipe ~cloexec:true () in
  let err_read, err_write = Unix.pipe ~cloexec:true () in
  let path = Filename.concat (Filename.dirname Sys.executable_name) program in
  let pid =
    Unix.create_process_env path [| path; role |] (environment debug) in_read
      out_write err_write
  in
  List.iter Unix.close [ in_read; out_write; err_write ];
  let stream fd = { fd; text = "" } in
  { pid; input = in_write; out = stream out_read; err = stream err_read }

let close t =
  (try Unix.kill t.pid Sys.sigkill with Unix.Unix_error _ -> ());
  (try ignore (Unix.waitpid [] t.pid : int * Unix.process_status)
   with Unix.Unix_error (ECHILD, _, _) -> ());
  List.iter Unix.close [ t.input; t.out.fd; t.err.fd ]

let during ?debug program role f =
  let t = start debug program role in
  Fun.protect ~finally:(fun () -> close t) (fun () -> f t)

let signal t number = Unix.kill t.pid number

let tell t line =
  let line = line ^ "\n" in
  ignore (Unix.write_substring t.input line 0 (String.length line) : int)

(* Returns [false] at the end of the stream or after the deadline. *)
let read_more stream ~until =
  let left = until -. Unix.gettimeofday () in
  match Unix.select [ stream.fd ] [] [] (Float.max 0. left) with
  | [], _, _ -> false
  | _ ->
      let bytes = Bytes.create 4096 in
      let n = Unix.read stream.fd bytes 0 4096 in
      stream.text <- stream.text ^ Bytes.sub_string bytes 0 n;
      n > 0
  | exception Unix.Unix_error (EINTR, _, _) -> true

let deadline () = Unix.gettimeofday () +. 20.

let wait_for stream part =
  let until = deadline () in
  let rec wait () =
    if not (Concord_test_support.Check.contains stream.text part) then
      if read_more stream ~until then wait ()
      else Alcotest.failf "%S is not in:\n%s" part stream.text
  in
  wait ()

let says t part = wait_for t.out part
let reports t part = wait_for t.err part

let so_far t =
  while read_more t.err ~until:0. do
    ()
  done;
  t.err.text

let reported t =
  let until = deadline () in
  while read_more t.err ~until do
    ()
  done;
  t.err.text

let ends t =
  let until = deadline () in
  while read_more t.out ~until do
    ()
  done;
  match Unix.waitpid [ WNOHANG ] t.pid with
  | 0, _ -> (
      (* The child has closed its output and is about to end. *)
      match Unix.waitpid [] t.pid with
      | _, WEXITED 0 -> ()
      | _ -> Alcotest.fail "the child failed")
  | _, WEXITED 0 -> ()
  | _ -> Alcotest.failf "the child failed:\n%s" (reported t)
