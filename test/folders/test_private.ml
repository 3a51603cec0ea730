(* A package that uses an internal module of concord must take it from [Concord.Private], which
   lists all such modules. The compiler would let it use any module under its mangled name, for
   example [Concord__core__Timer] for lib/core/time/timer.ml. Only tests do that, because they inspect
   internal state.

   The arguments are the source files outside of lib/ and test/. *)

let mangled = "Concord__"

let look_at file =
  let look_at_line i line =
    if Texts.contains line ~part:mangled then
      Faults.add "%s, line %d, has a mangled name: use Concord.Private" file
        (i + 1)
  in
  List.iteri look_at_line (In_channel.with_open_bin file In_channel.input_lines)

let () =
  let files = List.tl (Array.to_list Sys.argv) in
  if List.length files < 300 then
    Faults.add "only %d files were found" (List.length files);
  List.iter look_at files;
  Faults.stop ()
