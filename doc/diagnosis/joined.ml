open Concord
open Concord.Tools

let samples = Debug.named "samples" (Stream.create 100)
let stop = Debug.named "stop" (Promise.create ())

(* Runs in a thread, because it writes to a disk. *)
let rec write () =
  match Stream.take samples with
  | sample ->
      Printf.printf "%.1f\n%!" sample;
      write ()
  | exception Stream.Closed -> ()

let rec measure () =
  match
    Event.select
      [
        Event.wrap (Promise.await_evt stop) (fun () -> `Stop);
        Event.wrap (Event.timeout 60.) (fun () -> `Measure);
      ]
  with
  | `Measure ->
      Stream.add samples (Sys.time ());
      measure ()
  | `Stop -> Stream.close samples

let shut_down writer =
  Promise.await stop;
  Thread.join writer;
  print_endline "all samples are written"

let () =
  Eio_main.run (fun _ ->
      let writer = Thread.create write () in
      Eio.Fiber.all
        [
          (fun () -> shut_down writer);
          measure;
          (fun () -> Promise.fill stop ());
        ])
