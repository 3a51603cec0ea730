(* The longest line, value and file that a program reads. *)

open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

let too_long name limit f =
  match f () with
  | _ -> Alcotest.fail "it returned"
  | exception Sys_error e ->
      yes e (contains e ("Concord_aio." ^ name ^ ": "));
      yes e (contains e (string_of_int limit ^ " "));
      yes e (contains e "limit");
      e

let is_too_long name limit f = ignore (too_long name limit f : string)

let with_text text f =
  temp @@ fun name ->
  Out_channel.with_open_bin name (fun oc -> output_string oc text);
  Aio.with_open_in name f

(* --- Lines ------------------------------------------------------------------ *)

let default = 1_048_576
let line n = String.make n 'x'

let lines () =
  with_text (line default ^ "\n" ^ line (default + 1) ^ "\nend") @@ fun ic ->
  int "default" default (Aio.limit_in ic);
  yes "just as long" (Aio.input_line ic = line default);
  let position = Aio.pos_in ic in
  let e = too_long "input_line" default (fun () -> Aio.input_line ic) in
  yes e (contains e "set_limit_in");
  int "nothing is taken" position (Aio.pos_in ic);
  is_too_long "input_line" default (fun () -> Aio.input_line ic);
  Aio.set_limit_in ic (default + 1);
  yes "with a higher limit" (Aio.input_line ic = line (default + 1));
  strings "the rest" [ "end" ] [ Aio.input_line ic ];
  raises "the end" End_of_file (fun () -> Aio.input_line ic)

(* The limit doesn't depend on what is in the buffer, and a newline doesn't count. *)
let short_limits () =
  let each limit =
    with_text "1234\n12345\n123456\n12345" @@ fun ic ->
    Aio.set_limit_in ic limit;
    let next () =
      match Aio.input_line ic with
      | line -> line
      | exception Sys_error _ -> "too long"
    in
    List.init 4 (fun _ ->
        let line = next () in
        if line = "too long" then begin
          let rec skip () = if Aio.input_char ic <> '\n' then skip () in
          try skip () with End_of_file -> ()
        end;
        line)
  in
  strings "6" [ "1234"; "12345"; "123456"; "12345" ] (each 6);
  strings "5" [ "1234"; "12345"; "too long"; "12345" ] (each 5);
  strings "4" [ "1234"; "too long"; "too long"; "too long" ] (each 4);
  with_text "" @@ fun ic ->
  raises "zero"
    (Invalid_argument "Concord_aio.set_limit_in: the limit is below 1")
    (fun () -> Aio.set_limit_in ic 0)

(* The peer sends as much as it can, without a newline. *)
let endless () =
  Aio.run @@ fun () ->
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  let sent = ref 0 in
  let peer =
    Fifo.fork (fun () ->
        let text = line 65536 in
        let rec send () =
          if !sent > 100_000_000 then Alcotest.fail "there is no limit";
          sent := !sent + Aio.single_write_substring there text 0 65536;
          send ()
        in
        try send () with Unix.Unix_error (EPIPE, _, _) -> ())
  in
  let ic = Aio.in_channel_of_descr here in
  is_too_long "input_line" default (fun () -> Aio.input_line ic);
  yes "the memory" (words ic * (Sys.word_size / 8) < 4 * default);
  Aio.close_in ic;
  Fifo.join peer;
  Aio.close there;
  yes "what was sent" (!sent < 8 * default)

let standard_input () =
  with_pipe @@ fun from to_ ->
  as_standard Unix.stdin from @@ fun () ->
  put to_ "a line\n";
  let limit = Aio.limit_in Aio.stdin in
  Aio.set_limit_in Aio.stdin 5;
  is_too_long "input_line" 5 (fun () -> Aio.read_line ());
  Aio.set_limit_in Aio.stdin limit;
  strings "the line" [ "a line" ] [ Aio.read_line () ];
  List.iter Unix.close [ from; to_ ]

(* --- Files ------------------------------------------------------------------ *)

let files () =
  Aio.run @@ fun () ->
  List.iter
    (fun size ->
      temp @@ fun name ->
      let text = line size in
      Out_channel.with_open_bin name (fun oc -> output_string oc text);
      let read limit () = Aio.read_file ~limit name in
      yes "just as long" (read size () = text);
      yes "a higher limit" (read max_int () = text);
      is_too_long "read_file" (size - 1) (read (size - 1)))
    [ 1; 1000; 300_000; 1_000_000 ]

(* Its length is not known. *)
let device () =
  Aio.run @@ fun () ->
  is_too_long "read_file" 1_000_000 (fun () ->
      Aio.read_file ~limit:1_000_000 "/dev/zero");
  is_too_long "read_file" 67_108_864 (fun () -> Aio.read_file "/dev/zero");
  strings "empty" [ "" ] [ Aio.read_file ~limit:0 "/dev/null" ]

let () =
  Check.run "aio: longest"
    [
      ( "lines",
        [
          test "of a file" lines;
          test "short limits" short_limits;
          test "an endless one" endless;
          test "of the standard input" standard_input;
        ] );
      ("files", [ test "regular" files; test "a device" device ]);
    ]
