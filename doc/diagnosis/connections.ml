open Concord
open Concord.Tools

let connections = Debug.named "connections" (Stream.create 2)

let with_connection f =
  let connection = Stream.take connections in
  Fun.protect
    ~finally:(fun () -> Stream.add connections connection)
    (fun () -> f connection)

let execute connection statement =
  Eio.Fiber.yield ();
  Printf.printf "%d: %s\n%!" connection statement

let note line = with_connection (fun c -> execute c ("insert " ^ line))

let order item =
  with_connection (fun connection ->
      execute connection ("order " ^ item);
      note item;
      execute connection "commit")

let () =
  Eio_main.run (fun _ ->
      List.iter (Stream.add connections) [ 1; 2 ];
      Eio.Fiber.List.iter order [ "tea"; "milk" ])
