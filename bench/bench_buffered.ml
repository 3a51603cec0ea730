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

let lwt text n =
  let channel = Lwt_io.of_bytes ~mode:Lwt_io.input (Lwt_bytes.of_string text) in
  let rec go i =
    if i = n then Lwt.return_unit
    else
      Lwt.bind (Lwt_io.read_line channel) (fun line ->
          ignored line;
          go (i + 1))
  in
  Lwt_main.run (go 0)

(* --- Writing ---------------------------------------------------------------------- *)

let some_line = line 17

(* Nothing is done with the bytes, so only the buffer's work is measured. *)
let writing lines n =
  let start = Meter.now () in
  lines n;
  Meter.ns_since start

let concord_writes n =
  let writer = Writer.create (fun _ _ len -> len) in
  for _ = 1 to n do
    Writer.string writer some_line
  done;
  Writer.flush writer

module Nowhere = struct
  type t = unit

  let single_write () parts = Cstruct.lenv parts
  let copy () ~src = Eio.Flow.copy src (Eio.Flow.buffer_sink (Buffer.create 1))
end

let nowhere = Eio.Resource.T ((), Eio.Flow.Pi.sink (module Nowhere))

let eio_writes n =
  Eio_main.run @@ fun _ ->
  Eio.Buf_write.with_flow ~initial_size:16_384 nowhere @@ fun writer ->
  for i = 1 to n do
    Eio.Buf_write.string writer some_line;
    (* Eio's buffer has no limit, and its fiber writes only if others let it. *)
    if i land 255 = 0 then Eio.Buf_write.flush writer
  done

let lwt_writes n =
  let channel =
    Lwt_io.make ~mode:Lwt_io.output (fun _ _ len -> Lwt.return len)
  in
  let rec go i =
    if i = n then Lwt_io.flush channel
    else Lwt.bind (Lwt_io.write channel some_line) (fun () -> go (i + 1))
  in
  Lwt_main.run (go 0)

(* --- A pipe ----------------------------------------------------------------------- *)

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
    doc = "lines through a buffer, against Eio's, Lwt's and Stdlib's";
    comparisons =
      (let case = "buffered-lines"
       and writes = "buffered-writes"
       and pipe = "buffered-pipe" in
       let row case impl host f = row ~case ~impl ~host (Time f) in
       [
         {
           title = "a line of 1 to 80 bytes, of a string";
           baseline = row case "eio" "domain" (reading eio);
           others =
             [
               row case "concord" "domain" (reading concord);
               row case "lwt" "lwt" (reading lwt);
             ];
         };
         {
           title = "a line of 49 bytes, written to nowhere";
           baseline = row writes "eio" "eio" (writing eio_writes);
           others =
             [
               row writes "concord" "domain" (writing concord_writes);
               row writes "lwt" "lwt" (writing lwt_writes);
             ];
         };
         {
           title = "a line of 1 to 80 bytes, of a pipe that a thread fills";
           baseline = row pipe "stdlib" "domain" (on_a_pipe stdlib);
           others = [ row pipe "concord" "domain" (on_a_pipe unix) ];
         };
       ]);
  }
