open Concord

let mutex = Mutex.create ()
let free = Condition.create ()
let is_busy = ref false

let with_database f =
  Mutex.protect mutex (fun () ->
      while !is_busy do
        Condition.wait free mutex
      done;
      is_busy := true);
  let leave () =
    Mutex.protect mutex (fun () ->
        is_busy := false;
        Condition.signal free)
  in
  Fun.protect f ~finally:leave

let imported = ref 0

let import () =
  for _ = 1 to 100 do
    with_database (fun () ->
        Eio_unix.sleep 0.005;
        incr imported)
  done

let request () =
  with_database (fun () -> Eio_unix.sleep 0.001);
  Printf.printf "answered after %d rows\n%!" !imported

let () = Eio_main.run (fun _ -> Eio.Fiber.all [ import; request; request ])
