(* The programs of doc/async.mld. The page shows those that are named [theirs] or [ours], and
   test/doc compares the texts. *)

open Core
open Async

let theirs () =
  let reader, writer = Pipe.create () in
  Pipe.set_size_budget writer 2;
  don't_wait_for
    ( Deferred.List.iter ~how:`Sequential [ 1; 2; 3; 4 ] ~f:(Pipe.write writer)
    >>| fun () -> Pipe.close writer );
  Pipe.fold reader ~init:0 ~f:(fun sum n -> return (sum + n))

let queue_theirs = theirs

let ours () =
  let numbers = Concord.Stream.create 2 in
  let produce () =
    List.iter [ 1; 2; 3; 4 ] ~f:(Concord.Stream.add numbers);
    Concord.Stream.close numbers
  in
  let domain = Stdlib.Domain.spawn produce in
  let take () = Concord_async.Stream.take numbers in
  let rec sum total =
    Monitor.try_with ~extract_exn:true take >>= function
    | Ok n -> sum (total + n)
    | Error Concord.Stream.Closed ->
        Stdlib.Domain.join domain;
        return total
    | Error e -> raise e
  in
  sum 0

let queue_ours = ours

let theirs () =
  let box = Mvar.create () in
  Clock.with_timeout (Time_float.Span.of_sec 0.01) (Mvar.take box)
  >>= fun _timeout ->
  (* The take has timed out, but it still gets the value. *)
  Mvar.put box 1 >>= fun () ->
  Scheduler.yield () >>| fun () -> Mvar.peek box

let timeout_theirs = theirs

let ours () =
  let box = Concord_async.Mvar.create_empty () in
  Concord_async.sync_before 0.01 (Concord.Mvar.take_evt box) >>= fun _timeout ->
  Concord_async.Mvar.put box 1 >>| fun () -> Concord.Mvar.try_take box

(* Eio runs in another domain. *)
let together () =
  let requests = Concord.Mailbox.create () in
  let serve env =
    let answer (file, length) =
      let text = Eio.Path.load Eio.Path.(Eio.Stdenv.fs env / file) in
      Concord.Promise.fill length (String.length text)
    in
    try
      while true do
        answer (Concord.Mailbox.take requests)
      done
    with Concord.Mailbox.Closed -> ()
  in
  let domain = Stdlib.Domain.spawn (fun () -> Eio_main.run serve) in
  let length = Concord.Promise.create () in
  Concord.Mailbox.add requests (Stdlib.Sys.executable_name, length);
  Concord_async.Promise.await length >>| fun length ->
  Concord.Mailbox.close requests;
  Stdlib.Domain.join domain;
  length

let check name theirs ours expected_theirs expected_ours =
  let result f = Thread_safe.block_on_async_exn f in
  if not (Poly.equal (result theirs) expected_theirs) then
    failwith ("theirs: " ^ name);
  if not (Poly.equal (result ours) expected_ours) then failwith ("ours: " ^ name);
  Core.print_endline (name ^ ": both work")

let run () =
  check "a queue" queue_theirs queue_ours 10 10;
  check "a timeout" timeout_theirs ours None (Some 1);
  let length =
    Stdlib.In_channel.with_open_bin Stdlib.Sys.executable_name
      Stdlib.In_channel.length
  in
  if Thread_safe.block_on_async_exn together <> Int64.to_int_exn length then
    failwith "together: not the length of the file";
  Core.print_endline "Eio beside Async: it works"
