(* Channels return the same results as Stdlib's for the same files, in any sequence of
   operations. *)

open Concord_test_support
open Check
open Support

module type Channels = sig
  type in_channel
  type out_channel

  val open_in_bin : string -> in_channel
  val open_in_gen : open_flag list -> int -> string -> in_channel
  val open_out_bin : string -> out_channel
  val open_out_gen : open_flag list -> int -> string -> out_channel
  val input_char : in_channel -> char
  val input_line : in_channel -> string
  val really_input_string : in_channel -> int -> string
  val input_binary_int : in_channel -> int
  val pos_in : in_channel -> int
  val seek_in : in_channel -> int -> unit
  val in_channel_length : in_channel -> int
  val set_binary_mode_in : in_channel -> bool -> unit
  val close_in : in_channel -> unit
  val output_string : out_channel -> string -> unit
  val output_binary_int : out_channel -> int -> unit
  val pos_out : out_channel -> int
  val seek_out : out_channel -> int -> unit
  val out_channel_length : out_channel -> int
  val set_binary_mode_out : out_channel -> bool -> unit
  val flush : out_channel -> unit
  val close_out : out_channel -> unit
end

module With (C : Channels) = struct
  (* The result or the exception, as text. *)
  let attempt show f =
    match f () with v -> show v | exception e -> Printexc.to_string e

  let of_int = attempt string_of_int
  let of_string = attempt String.escaped
  let of_unit = attempt (fun () -> "()")

  (* A file of [size] bytes. Some positions lie around its end. *)
  let read_at_random ~seed ~size name =
    let random = Random.State.make [| seed |] in
    let below n = Random.State.int random n in
    let ic = C.open_in_bin name in
    let step _ =
      match below 8 with
      | 0 -> of_string (fun () -> String.make 1 (C.input_char ic))
      | 1 -> of_string (fun () -> C.input_line ic)
      | 2 ->
          let n = below 70_000 in
          of_string (fun () ->
              Digest.to_hex (Digest.string (C.really_input_string ic n)))
      | 3 -> of_int (fun () -> C.input_binary_int ic)
      | 4 -> of_int (fun () -> C.in_channel_length ic)
      | 5 ->
          (* near the current position *)
          let position = C.pos_in ic + below 200 - 100 in
          of_unit (fun () -> C.seek_in ic position)
      | _ ->
          let position = below (size + 100) - 10 in
          of_unit (fun () -> C.seek_in ic position)
    in
    let steps =
      List.init 300 (fun i ->
          let result = step i in
          result ^ " at " ^ string_of_int (C.pos_in ic))
    in
    C.set_binary_mode_in ic true;
    C.close_in ic;
    steps @ [ of_unit (fun () -> C.seek_in ic 0) ]

  let write_at_random ~seed name =
    let random = Random.State.make [| seed |] in
    let below n = Random.State.int random n in
    let oc = C.open_out_bin name in
    let step i =
      match below 5 with
      | 0 -> of_unit (fun () -> C.output_string oc (string_of_int i))
      | 1 ->
          let n = below 100_000 in
          of_unit (fun () -> C.output_string oc (String.make n 'x'))
      | 2 -> of_unit (fun () -> C.output_binary_int oc (below 1000 - 500))
      | 3 ->
          C.flush oc;
          of_int (fun () -> C.out_channel_length oc)
      | _ ->
          let position = below 200_000 - 10 in
          of_unit (fun () -> C.seek_out oc position)
    in
    let steps =
      List.init 100 (fun i ->
          let result = step i in
          result ^ " at " ^ string_of_int (C.pos_out oc))
    in
    C.set_binary_mode_out oc true;
    C.close_out oc;
    steps
    @ [ of_unit (fun () -> C.seek_out oc 0); Digest.to_hex (Digest.file name) ]

  let appended name =
    let oc = C.open_out_gen [ Open_wronly; Open_append ] 0 name in
    let first = C.pos_out oc in
    C.output_string oc "appended";
    let second = C.pos_out oc and length = C.out_channel_length oc in
    C.close_out oc;
    let ic = C.open_in_gen [ Open_rdonly ] 0 name in
    let all = C.in_channel_length ic in
    C.close_in ic;
    List.map string_of_int [ first; second; length; all ]

  (* In a pipe, Stdlib doesn't define positions, and it seeks only within the buffer. *)
  let of_pipe ic oc =
    C.output_string oc "line\n";
    let no_length = of_int (fun () -> C.out_channel_length oc) in
    let no_seek = of_unit (fun () -> C.seek_out oc 1000) in
    C.close_out oc;
    let line = C.input_line ic in
    let no_length_either = of_int (fun () -> C.in_channel_length ic) in
    let no_seek_either = of_unit (fun () -> C.seek_in ic 1000) in
    C.close_in ic;
    [ no_length; no_seek; line; no_length_either; no_seek_either ]

  (* Where a pipe's channels begin, and that their positions count. *)
  let positions_of_pipe ic oc =
    let out_first = C.pos_out oc and in_first = C.pos_in ic in
    C.output_string oc "line\nmore";
    C.close_out oc;
    ignore (C.input_line ic : string);
    let positions = [ out_first; in_first; C.pos_in ic ] in
    C.close_in ic;
    List.map string_of_int positions

  (* Special files of the system, and disks. *)
  let length_of name =
    match C.open_in_gen [ Open_rdonly ] 0 name with
    | exception Sys_error e -> e
    | ic ->
        let length = of_int (fun () -> C.in_channel_length ic) in
        C.close_in ic;
        length
end

module Stdlibs = With (Stdlib)
module Ours = With (Aio)

let on_each name f =
  ( name,
    [ test "run" (fun () -> Aio.run f); test "thread" (fun () -> in_thread f) ]
  )

let seeds = List.init 20 Fun.id

let input () =
  temp @@ fun name ->
  let size = 200_000 in
  Out_channel.with_open_bin name (fun oc ->
      for i = 1 to size / 10 do
        Printf.fprintf oc "%09d%c" i (if i mod 7 = 0 then '\n' else '.')
      done);
  List.iter
    (fun seed ->
      strings
        (Printf.sprintf "seed %d" seed)
        (Stdlibs.read_at_random ~seed ~size name)
        (Ours.read_at_random ~seed ~size name))
    seeds

let output () =
  temp @@ fun name ->
  List.iter
    (fun seed ->
      strings
        (Printf.sprintf "seed %d" seed)
        (Stdlibs.write_at_random ~seed name)
        (Ours.write_at_random ~seed name))
    seeds

let appended () =
  temp @@ fun name ->
  temp @@ fun name' ->
  strings "the same" (Stdlibs.appended name) (Ours.appended name')

let pipe () =
  let theirs =
    with_pipe @@ fun from to_ ->
    Stdlibs.of_pipe
      (Unix.in_channel_of_descr from)
      (Unix.out_channel_of_descr to_)
  and ours =
    with_pipe @@ fun from to_ ->
    Ours.of_pipe (Aio.in_channel_of_descr from) (Aio.out_channel_of_descr to_)
  in
  strings "the same" theirs ours

let positions () =
  let theirs =
    with_pipe @@ fun from to_ ->
    Stdlibs.positions_of_pipe
      (Unix.in_channel_of_descr from)
      (Unix.out_channel_of_descr to_)
  and ours =
    with_pipe @@ fun from to_ ->
    Ours.positions_of_pipe
      (Aio.in_channel_of_descr from)
      (Aio.out_channel_of_descr to_)
  in
  strings "the same" theirs ours

let lengths () =
  let names =
    [ "/proc/self/status"; "/proc/sys/kernel/ostype"; "/dev/null"; "/dev/zero" ]
    @ List.map (( ^ ) "/dev/") [ "vda"; "sda"; "nvme0n1"; "loop0" ]
  in
  List.iter
    (fun name ->
      strings name [ Stdlibs.length_of name ] [ Ours.length_of name ])
    names

(* The channel of a descriptor begins at the descriptor's position. *)
let of_descriptor () =
  temp @@ fun name ->
  Out_channel.with_open_bin name (fun oc ->
      Out_channel.output_string oc "0123456789");
  let fd = Unix.openfile name [ O_RDWR; O_CLOEXEC ] 0 in
  ignore (Unix.lseek fd 4 SEEK_SET : int);
  let ic = Aio.in_channel_of_descr fd in
  int "begins" 4 (Aio.pos_in ic);
  yes "reads" (Aio.input_char ic = '4');
  Aio.seek_in ic 0;
  yes "from the beginning" (Aio.input_char ic = '0');
  Aio.close_in ic

let standard_input () =
  let before = Unix.dup ~cloexec:true Unix.stdin in
  with_pipe @@ fun from to_ ->
  Unix.dup2 from Unix.stdin;
  Unix.close from;
  put to_ "a line\n12\n1.5\nx\n";
  Unix.close to_;
  Aio.run (fun () ->
      strings "line" [ "a line" ] [ Aio.read_line () ];
      int "number" 12 (Aio.read_int ());
      yes "float" (Aio.read_float () = 1.5);
      yes "none" (Aio.read_int_opt () = None);
      raises "the end" End_of_file Aio.read_line);
  Unix.dup2 before Unix.stdin;
  Unix.close before

let () =
  Check.run "aio: channels"
    [
      on_each "input" input;
      on_each "output" output;
      on_each "appended" appended;
      on_each "a pipe" pipe;
      on_each "of a descriptor" of_descriptor;
      on_each "positions in a pipe" positions;
      on_each "lengths" lengths;
      ("standard input", [ test "lines and numbers" standard_input ]);
    ]
