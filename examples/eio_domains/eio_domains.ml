(* A process has one loop of Lwt, but each domain can have a loop of Eio. Here Lwt reads lines
   from a pipe, fibers of two domains count their words, and Lwt writes the counts to another
   pipe. Two streams of Concord connect the domains. *)

open Concord
open Lwt.Syntax

let words line = List.length (String.split_on_char ' ' line)

(* The writer of a pipe must not decide how much memory its reader needs. *)
let longest_line = 4096
let longest_result = 65536

(* --- Lwt ----------------------------------------------------------------------------- *)

(* [Lwt_io.read_line_opt], which has no limit. *)
let read_line_opt channel =
  let line = Buffer.create 80 in
  let rec next () =
    let* c = Lwt_io.read_char_opt channel in
    match c with
    | None when Buffer.length line = 0 -> Lwt.return_none
    | None | Some '\n' -> Lwt.return_some (Buffer.contents line)
    | Some _ when Buffer.length line = longest_line ->
        Printf.ksprintf Lwt.fail_with "a line is longer than %d bytes"
          longest_line
    | Some c ->
        Buffer.add_char line c;
        next ()
  in
  next ()

(* While the stream is full, Lwt reads nothing, so the pipe applies back-pressure to its
   writer. *)
let rec read_lines channel lines =
  let* line = read_line_opt channel in
  match line with
  | Some line ->
      let* () = Concord_lwt.Stream.add lines line in
      read_lines channel lines
  | None ->
      Stream.close lines;
      Lwt.return_unit

let rec write_counts channel counts =
  Lwt.try_bind
    (fun () -> Concord_lwt.Stream.take counts)
    (fun (domain, n) ->
      let* () = Lwt_io.write_line channel (Printf.sprintf "%d %d" domain n) in
      write_counts channel counts)
    (function Stream.Closed -> Lwt_io.close channel | e -> Lwt.reraise e)

(* --- Eio ----------------------------------------------------------------------------- *)

let work lines counts domain () =
  Stream.iter (fun line -> Stream.add counts (domain, words line)) lines

(* Runs [f 0] in the main domain and [f 1] in another one. *)
let in_two_domains env f =
  let other () = Eio.Domain_manager.run env#domain_mgr (f 1) in
  Eio.Fiber.both (f 0) other

(* --- The program ------------------------------------------------------------------------ *)

let text = List.init 1_000 (fun i -> if i mod 2 = 0 then "one" else "one two")

let pipe_of_lines lines =
  let reader, writer = Unix.pipe ~cloexec:true () in
  let write () =
    let channel = Unix.out_channel_of_descr writer in
    List.iter (fun line -> output_string channel (line ^ "\n")) lines;
    close_out channel
  in
  (reader, Thread.create write ())

let read_all channel =
  let b = Bytes.create (longest_result + 1) in
  let rec read n =
    if n > longest_result then
      Printf.ksprintf failwith "the result is longer than %d bytes"
        longest_result
    else
      match In_channel.input channel b n (Bytes.length b - n) with
      | 0 -> Bytes.sub_string b 0 n
      | more -> read (n + more)
  in
  read 0

let sum_of reader =
  read_all (Unix.in_channel_of_descr reader)
  |> String.split_on_char '\n'
  |> List.filter_map (fun line -> Scanf.sscanf_opt line "%d %d" (fun _ n -> n))
  |> List.fold_left ( + ) 0

let () =
  let input, writer = pipe_of_lines text in
  let result, output = Unix.pipe ~cloexec:true () in
  let lines = Stream.create 10 and counts = Stream.create 10 in
  let sum = Promise.in_thread (fun () -> sum_of result) in
  Concord_lwt.with_domain Lwt.return (fun lwt ->
      let in_lwt f () = Concord_lwt.call lwt (fun () -> f ()) in
      Eio_main.run @@ fun env ->
      Tasks.iter
        (fun f -> f ())
        [
          in_lwt (fun () ->
              read_lines (Lwt_io.of_unix_fd ~mode:Lwt_io.input input) lines);
          in_lwt (fun () ->
              write_counts (Lwt_io.of_unix_fd ~mode:Lwt_io.output output) counts);
          (fun () ->
            in_two_domains env (work lines counts);
            Stream.close counts);
        ]);
  Thread.join writer;
  Printf.printf "%d words in %d lines\n" (Promise.await sum) (List.length text)
