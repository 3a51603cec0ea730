(* The variants of [./dev test] (tools/variants.sh, bytecode.sh, tsan) build these folders without the
   packages that adapt a library. dune leaves out the tests of those packages. But an executable
   belongs to no package, so it must not name one of their libraries. Make it a test that does
   nothing, as in test/unit/diagnosis/broken.

   The arguments are dune files. The formatter puts an empty line between two stanzas. *)

let adapters =
  [
    "concord-aio";
    "concord-async";
    "concord-domainslib";
    "concord-eio";
    "concord-lwt";
    "concord-miou";
    "concord-picos";
    "concord-trace";
    "ppx_concord";
  ]

let executables = ref 0

let words stanza =
  String.map
    (function '(' | ')' | '\n' | '\t' -> ' ' | c -> c)
    (String.concat " " stanza)
  |> String.split_on_char ' '
  |> List.filter (( <> ) "")

(* The library [concord-aio.dns] is of the package [concord-aio]. *)
let package library = List.hd (String.split_on_char '.' library)

let look_at file stanza =
  match words stanza with
  | ("executable" | "executables") :: fields ->
      incr executables;
      List.filter (fun word -> List.mem (package word) adapters) fields
      |> List.iter (Faults.add "%s: an executable uses %s" file)
  | _ -> ()

let is_comment line = String.starts_with ~prefix:";" (String.trim line)

let rec stanzas stanza = function
  | [] -> [ List.rev stanza ]
  | "" :: rest -> List.rev stanza :: stanzas [] rest
  | line :: rest when is_comment line -> stanzas stanza rest
  | line :: rest -> stanzas (line :: stanza) rest

let () =
  let files = List.tl (Array.to_list Sys.argv) in
  List.iter
    (fun file ->
      In_channel.with_open_bin file In_channel.input_lines
      |> stanzas []
      |> List.iter (look_at file))
    files;
  if List.length files < 20 || !executables < 3 then
    Faults.add "only %d dune files and %d executables were found"
      (List.length files) !executables;
  Faults.stop ()
