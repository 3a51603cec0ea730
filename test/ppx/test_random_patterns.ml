(* Random patterns. The case that matches must be the one that matches with the compiler's lazy
   values. The forced values are the same in nearly all runs. They may differ because the
   language doesn't fix the order. The compiler may check the right side before the left one,
   or find earlier that no case will match. *)

let () =
  let runs = List.length Random_as_stdlib.results in
  let wrong = ref 0 and differ = ref 0 in
  let compare (name, (forced, outcome)) (_, (forced', outcome')) =
    if not (String.equal forced forced') then incr differ;
    if not (String.equal outcome outcome') then begin
      incr wrong;
      if !wrong <= 10 then
        Printf.printf "%s: the compiler's%s = %s, ours%s = %s\n" name forced
          outcome forced' outcome'
    end
  in
  List.iter2 compare Random_as_stdlib.results Random_as_concord.results;
  Printf.printf "%d runs, %d with another outcome, %d force something else\n"
    runs !wrong !differ;
  if !wrong > 0 || 50 * !differ > runs then exit 1
