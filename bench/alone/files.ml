(* Measures reading small files that are in the page cache, by Concord_aio and by Stdlib. *)

module Aio = Concord_aio

let file size =
  let name = Filename.temp_file "concord" "files" in
  Out_channel.with_open_bin name (fun oc ->
      output_string oc (String.init size (fun i -> Char.chr (i land 127))));
  name

let stdlib name = In_channel.with_open_bin name In_channel.input_all
let ignore_string (_ : string) = ()

let by_unix name =
  let fd = Unix.openfile name [ O_RDONLY; O_CLOEXEC ] 0 in
  let b = Bytes.create 65536 in
  while Unix.read fd b 0 65536 > 0 do
    ()
  done;
  Unix.close fd

let whole name size () =
  let channel () =
    Aio.with_open_in name (fun ic -> Aio.really_input_string ic size)
  in
  In_turns.measure
    (Printf.sprintf "a file of %d bytes, opened, read and closed" size)
    [
      ("Stdlib, input_all", fun () -> ignore_string (stdlib name));
      ("Unix", fun () -> by_unix name);
      ("Concord_aio.read_file", fun () -> ignore_string (Aio.read_file name));
      ("Concord_aio.with_open_in", fun () -> ignore_string (channel ()));
    ]

let parts name size ~part () =
  let ic = Stdlib.open_in_bin name and aio = Aio.open_in_bin name in
  let b = Bytes.create part in
  In_turns.measure
    (Printf.sprintf "an open channel: %d bytes in parts of %d" size part)
    [
      ( "Stdlib",
        fun () ->
          seek_in ic 0;
          for _ = 1 to size / part do
            Stdlib.really_input ic b 0 part
          done );
      ( "Concord_aio",
        fun () ->
          Aio.seek_in aio 0;
          for _ = 1 to size / part do
            Aio.really_input aio b 0 part
          done );
    ];
  close_in ic;
  Aio.close_in aio

let () =
  In_turns.parse "files";
  let small = file 100 and large = file 100_000 and parted = file 1_000_000 in
  Fun.protect ~finally:(fun () -> List.iter Sys.remove [ small; large; parted ])
  @@ fun () ->
  Aio.run (fun () ->
      whole small 100 ();
      whole large 100_000 ();
      parts parted 1_000_000 ~part:100 ();
      parts parted 1_000_000 ~part:4096 ();
      parts parted 1_000_000 ~part:65536 ())
