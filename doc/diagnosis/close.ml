open Concord
open Concord.Tools

let lines = Debug.named "lines" (Stream.create 10)

let read () =
  for i = 1 to 3 do
    Stream.add lines (string_of_int i)
  done

let rec count n =
  match Stream.take lines with
  | _ -> count (n + 1)
  | exception Stream.Closed -> Printf.printf "%d lines\n%!" n

let () = Eio_main.run (fun _ -> Eio.Fiber.both read (fun () -> count 0))
