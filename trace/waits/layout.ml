type t = {
  mark : int;
  operation_mark : int;
  operation_name : int;
  waiter_choice : int;
  waiter_resumer : int;
  no_choice : int;
  withdrawn : int;
  leaving : int;
  suspending : int list;
  choosing : int list;
  labels : int;
}

let symbol = Concord.Private.Wait_layout.symbol
let format = 1

(* The frames, values and domains of these have the same representation. *)
let known_versions = [ "5.3."; "5.4."; "5.5." ]
let integer v = if v land 1 = 1 then v asr 1 else -1

(* The fields are in the order of [Wait_layout.t]. *)
let read heap address =
  let layout = Heap.field heap address 0 in
  let field i = Heap.field heap layout i in
  if not (Heap.is_block heap layout) then
    Refused.refuse "its main module has not begun";
  let found = integer (field 0) in
  if found <> format then
    Refused.refuse
      "its version of Concord describes waits in format %d, and this command \
       knows format %d. Use the concord-trace of that version"
      found format;
  let ocaml = Heap.text heap (field 1) in
  if
    not
      (List.exists
         (fun prefix -> String.starts_with ~prefix ocaml)
         known_versions)
  then
    Refused.refuse
      "it was compiled by OCaml %s, whose stack frames this command doesn't \
       know. It knows 5.3, 5.4 and 5.5"
      ocaml;
  let any v = Heap.field heap v 0 in
  let rec all list =
    if Heap.is_block heap list then
      Heap.code heap (any (Heap.field heap list 0))
      :: all (Heap.field heap list 1)
    else []
  in
  {
    mark = field 2;
    no_choice = field 3;
    withdrawn = any (field 4);
    leaving = any (field 5);
    suspending = all (field 6);
    choosing = all (field 7);
    labels = any (field 8);
    operation_mark = integer (field 9);
    operation_name = integer (field 10);
    waiter_choice = integer (field 11);
    waiter_resumer = integer (field 12);
  }
