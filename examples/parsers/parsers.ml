(* Thousands of connections have sent half a JSON text, and each has a parser that has stopped
   in the middle of it. The parser is Yojson's, which pulls its input from a function. Here
   callbacks of Lwt, tasks of Concord_aio and a plain loop push strings to it instead.

   ./dev exec parsers *)

open Concord_generator

let half = {|{"name": "concord", "numbers": [1, 2, 3, {"deep": [true, "un|}
let rest = {|finished"]}], "end": null}|}
let expected = Yojson.Safe.from_string (half ^ rest)
let check parser = assert (Consumer.finish parser = expected)

let measured name f =
  let words () =
    Gc.full_major ();
    (Gc.stat ()).live_words
  in
  let before = words () in
  let n, v = f () in
  let bytes = (words () - before) * (Sys.word_size / 8) / n in
  ignore (Sys.opaque_identity v);
  Printf.printf "%s: %d half-read texts, %d bytes each\n%!" name n bytes;
  assert (bytes < 20_000);
  v

(* --- In memory --- *)

let half_read () =
  let parser = Json_push.create () in
  Consumer.push parser half;
  parser

let in_memory n =
  let parsers =
    measured "in memory" (fun () -> (n, List.init n (fun _ -> half_read ())))
  in
  List.iter
    (fun parser ->
      Consumer.push parser rest;
      check parser)
    parsers

(* Pushes the text byte by byte. The parser gives the same result however the input is
   split. *)
let byte_by_byte n =
  let text = half ^ rest in
  let began = Unix.gettimeofday () in
  for _ = 1 to n do
    let parser = Json_push.create () in
    String.iter (fun c -> Consumer.push parser (String.make 1 c)) text;
    check parser
  done;
  let pushes = n * String.length text in
  Printf.printf "a push of one byte: %.0f ns\n%!"
    ((Unix.gettimeofday () -. began) *. 1e9 /. float pushes)

(* Pushes a string that is longer than the lexer's buffer. *)
let long () =
  let text = String.init 100_000 (fun i -> Char.chr (97 + (i mod 26))) in
  let parser = Json_push.create () in
  Consumer.push parser (Printf.sprintf "%S" text);
  assert (Consumer.finish parser = `String text)

(* The value of a text without an end would need any amount of memory. *)
let too_long () =
  let parser = Json_push.create () in
  Consumer.push parser "[";
  let rec push n =
    assert (n <= Json_push.longest);
    Consumer.push parser "1,";
    push (n + 2)
  in
  try push 1 with Json_push.Too_long -> ()

(* --- Connections --- *)

let descriptors_for_each = 2

let write socket text =
  assert (
    Unix.write_substring socket text 0 (String.length text) = String.length text)

(* Makes [n] pairs of sockets. If the descriptors run out, it makes fewer, and frees 40
   descriptors for the rest of the program. *)
let pairs n =
  let rec go n made =
    if n = 0 then made
    else
      match Unix.(socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0) with
      | pair -> go (n - 1) (pair :: made)
      | exception Unix.Unix_error (EMFILE, _, _) -> without 40 made
  and without n made =
    match made with
    | (a, b) :: made when n > 0 ->
        Unix.close a;
        Unix.close b;
        without (n - descriptors_for_each) made
    | _ -> made
  in
  go n []

(* Each callback pushes the bytes that have arrived, and then waits for more. *)
let in_lwt n =
  let open Lwt.Infix in
  let buffer = Bytes.create 4096 and waiting = ref 0 in
  let connection (socket, peer) =
    let parser = Json_push.create () in
    write peer half;
    let socket = Lwt_unix.of_unix_file_descr socket in
    let rec next () =
      Lwt_unix.wait_read socket >>= fun () ->
      match Unix.read (Lwt_unix.unix_file_descr socket) buffer 0 4096 with
      | 0 -> Lwt_unix.close socket >|= fun () -> check parser
      | n ->
          Consumer.push parser (Bytes.sub_string buffer 0 n);
          incr waiting;
          next ()
    in
    (peer, next ())
  in
  let rec until n =
    if !waiting < n then Lwt.pause () >>= fun () -> until n else Lwt.return_unit
  in
  let connections =
    measured "callbacks of Lwt" (fun () ->
        let connections = List.map connection (pairs n) in
        let n = List.length connections in
        Lwt_main.run (until n);
        (n, connections))
  in
  List.iter
    (fun (peer, _) ->
      write peer rest;
      Unix.close peer)
    connections;
  Lwt_main.run (Lwt.join (List.map snd connections))

(* Each connection has a task of Concord_aio. *)
let in_tasks n =
  Concord_aio.run @@ fun () ->
  let waiting = ref 0 in
  let connection (socket, peer) =
    let parser = Json_push.create () in
    write peer half;
    let rec serve () =
      let buffer = Bytes.create 256 in
      match Concord_aio.read socket buffer 0 256 with
      | 0 -> check parser
      | n ->
          Consumer.push parser (Bytes.sub_string buffer 0 n);
          incr waiting;
          serve ()
    in
    let task =
      Concord_fifo.fork (fun () ->
          serve ();
          Concord_aio.close socket)
    in
    (peer, task)
  in
  let connections =
    measured "tasks of Concord_aio" (fun () ->
        let connections = List.map connection (pairs n) in
        let n = List.length connections in
        while !waiting < n do
          Concord_fifo.yield ()
        done;
        (n, connections))
  in
  List.iter
    (fun (peer, task) ->
      write peer rest;
      Unix.close peer;
      Concord_fifo.join task)
    connections

let () =
  in_memory 10_000;
  byte_by_byte 1_000;
  long ();
  too_long ();
  in_lwt 500;
  in_tasks 10_000
