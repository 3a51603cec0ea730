(* A line of more than 80 columns in a block of code scrolls at a width of 1280 pixels. This
   counts these lines on the pages, without the block's indentation. Answers of the toplevel, and
   output, can't be broken. So there is a bound, which may only be lowered. *)

let bound = 126
let width = 80

let indentation line =
  let rec from i =
    if i < String.length line && line.[i] = ' ' then from (i + 1) else i
  in
  from 0

let long_lines page =
  let too_long block =
    let text = List.filter (fun line -> String.trim line <> "") block in
    let indent =
      List.fold_left (fun n l -> Int.min n (indentation l)) max_int text
    in
    List.filter (fun line -> String.length line - indent > width) text
  in
  let rec outside = function
    | line :: rest
      when String.ends_with ~suffix:"[" line && String.contains line '{' ->
        inside [] rest
    | _ :: rest -> outside rest
    | [] -> []
  and inside block = function
    | line :: rest when String.ends_with ~suffix:"]}" line ->
        too_long block @ outside rest
    | line :: rest -> inside (line :: block) rest
    | [] -> []
  in
  outside (In_channel.with_open_bin page In_channel.input_lines)

let () =
  let pages = List.tl (Array.to_list Sys.argv) in
  let found =
    List.map (fun page -> (page, List.length (long_lines page))) pages
  in
  let total = List.fold_left (fun n (_, lines) -> n + lines) 0 found in
  if total > bound then begin
    List.iter
      (fun (page, n) -> if n > 0 then Printf.eprintf "%s: %d\n" page n)
      found;
    Printf.eprintf
      "FAIL %d lines of code on the pages have more than %d columns, and the \
       bound in test/doc/test_columns.ml is %d. Break the new ones, or lower \
       the bound.\n"
      total width bound;
    exit 1
  end
