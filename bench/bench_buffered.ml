open Case
open Concord_buffered

(* Lines of 1 to 80 bytes, from memory, so that only the buffer's work is measured. *)
let line i = String.make (1 + (i * 31 mod 80)) 'x' ^ "\n"
let text n = String.concat "" (List.init n line)

let reading lines n =
  let text = text n in
  let start = Meter.now () in
  lines text n;
  Meter.ns_since start

let ignored (_ : string) = ()

let concord text n =
  let reader = Reader.of_string text in
  for _ = 1 to n do
    ignored (Reader.line ~max:1000 reader)
  done

let eio text n =
  let reader =
    Eio.Buf_read.of_flow ~max_size:1000 ~initial_size:16_384
      (Eio.Flow.string_source text)
  in
  for _ = 1 to n do
    ignored (Eio.Buf_read.line reader)
  done

(* A thread writes the text to the pipe of a channel. *)
let on_a_pipe lines n =
  let text = text n in
  let from, to_ = Unix.pipe ~cloexec:true () in
  let write () =
    ignore (Unix.write_substring to_ text 0 (String.length text) : int);
    Unix.close to_
  in
  let writer = Thread.create write () in
  let start = Meter.now () in
  lines from n;
  let time = Meter.ns_since start in
  Thread.join writer;
  time

let stdlib fd n =
  let ic = Unix.in_channel_of_descr fd in
  for _ = 1 to n do
    ignored (input_line ic)
  done;
  close_in ic

let unix fd n =
  let reader = Reader.create ~size:65536 (Unix.read fd) in
  for _ = 1 to n do
    ignored (Reader.line ~max:1000 reader)
  done;
  Unix.close fd

let group =
  {
    name = "buffered";
    doc = "lines read through a buffer, against Eio's and Stdlib's";
    comparisons =
      (let case = "buffered-lines" and pipe = "buffered-pipe" in
       let row case impl host f = row ~case ~impl ~host (Time f) in
       [
         {
           title = "a line of 1 to 80 bytes, of a string";
           baseline = row case "eio" "domain" (reading eio);
           others = [ row case "concord" "domain" (reading concord) ];
         };
         {
           title = "a line of 1 to 80 bytes, of a pipe that a thread fills";
           baseline = row pipe "stdlib" "domain" (on_a_pipe stdlib);
           others = [ row pipe "concord" "domain" (on_a_pipe unix) ];
         };
       ]);
  }
