open Concord

let () =
  let mutex = Mutex.create () in
  Mutex.protect mutex (fun () -> print_endline "locked")
