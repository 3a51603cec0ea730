(* [Atomic.incr] and [Atomic.decr] allocate from OCaml 5.4 on, so a signal handler may raise before
   they change the number. Much code of the libraries relies on there being no such point
   (lib/README.md, "Unbroken"), and the scan can't tell which. [Atomic.fetch_and_add] has none.

   The arguments are the source files of the libraries. *)

let breakable = [ "Atomic.incr"; "Atomic.decr" ]
let has line part = Texts.contains line ~part

(* A comment may name it, as [Atomic.incr]. *)
let uses line word = has line word && not (has line ("[" ^ word ^ "]"))

let look_at file =
  let look_at_line i line =
    match List.find_opt (uses line) breakable with
    | Some word ->
        Faults.add
          "%s, line %d: %s allocates, so a signal handler may raise there. Use \
           Atomic.fetch_and_add"
          file (i + 1) word
    | None -> ()
  in
  List.iteri look_at_line (In_channel.with_open_bin file In_channel.input_lines)

let () =
  let files = List.tl (Array.to_list Sys.argv) in
  if List.length files < 200 then
    Faults.add "only %d files were found" (List.length files);
  List.iter look_at files;
  Faults.stop ()
