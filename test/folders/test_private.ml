(* A package that uses an internal module of concord must take it from [Concord.Private], which
   lists all such modules. The compiler would let it use any module under its mangled name, for
   example [Concord__core__Timer] for lib/core/time/timer.ml. Only tests do that, because they inspect
   internal state.

   The arguments are the source files outside of lib/ and test/. *)

let mangled = "Concord__"

let is_at line i =
  String.length line - i >= String.length mangled
  && String.sub line i (String.length mangled) = mangled

let names_it line =
  Seq.exists (is_at line) (Seq.take (String.length line) (Seq.ints 0))

let faults = ref 0

let look_at file =
  let look_at_line i line =
    if names_it line then begin
      incr faults;
      Printf.eprintf
        "FAIL %s, line %d, has a mangled name: use Concord.Private\n" file
        (i + 1)
    end
  in
  List.iteri look_at_line (In_channel.with_open_bin file In_channel.input_lines)

let () =
  let files = List.tl (Array.to_list Sys.argv) in
  if List.length files < 300 then begin
    incr faults;
    Printf.eprintf "FAIL only %d files were found\n" (List.length files)
  end;
  List.iter look_at files;
  if !faults > 0 then exit 1
