open Concord
open Concord.Tools

let jobs = Debug.named "jobs" (Stream.create 1)

let rec work () =
  let n = Stream.take jobs in
  Printf.printf "job %d\n%!" n;
  work ()

(* The other end of the pipe never writes. *)
let read_settings () =
  let input, _ = Unix.pipe () in
  ignore (Unix.read input (Bytes.create 1) 0 1 : int)

let rec give n =
  Stream.add jobs n;
  give (n + 1)

let () =
  Eio_main.run (fun _ ->
      Eio.Fiber.both work (fun () ->
          let giver = Thread.create give 1 in
          read_settings ();
          Thread.join giver))
