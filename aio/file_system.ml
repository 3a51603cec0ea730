let looking f = Blocking_threads.run Files f
let changing f = Blocking_threads.run_protected Files f
let stat name = looking (fun () -> Unix.stat name)
let lstat name = looking (fun () -> Unix.lstat name)

let names folder =
  let rec names found =
    match Unix.readdir folder with
    | "." | ".." -> names found
    | name -> names (name :: found)
    | exception End_of_file -> found
  in
  names []

let readdir name =
  looking (fun () ->
      let folder = Unix.opendir name in
      Ensure.finally Unix.closedir folder names folder)

let mkdir name perm = changing (fun () -> Unix.mkdir name perm)
let rmdir name = changing (fun () -> Unix.rmdir name)
let rename name name' = changing (fun () -> Unix.rename name name')
let unlink name = changing (fun () -> Unix.unlink name)

(* --- Descriptors ---------------------------------------------------------------- *)

let on_file name fd f =
  Io.with_ name fd (fun io ->
      Io.perform name { io with kind = File } Write (fun () -> f fd))

let fsync fd = on_file "fsync" fd Unix.fsync

let pread fd ~at b pos len =
  Io.check "Concord_aio.pread" (Bytes.length b) pos len;
  on_file "pread" fd (fun fd -> Native.pread fd b pos len at)

let pwrite fd ~at b pos len =
  Io.check "Concord_aio.pwrite" (Bytes.length b) pos len;
  let rec write fd pos len at =
    if len > 0 then
      let n = Native.pwrite fd b pos len at in
      write fd (pos + n) (len - n) (at + n)
  in
  on_file "pwrite" fd (fun fd -> write fd pos len at)
