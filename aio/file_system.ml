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

let with_file name fd f =
  Io.with_ name fd (fun io -> f { io with Io.kind = File })

let fsync fd =
  with_file "fsync" fd (fun io ->
      Io.perform "fsync" io Write (fun () -> Unix.fsync fd))

(* If the bytes are in the system's memory, no thread is needed. *)
let at_once name io now =
  Io.give_turn ();
  Int.max 0 (Io.using name io now)

let pread fd ~at b pos len =
  Io.check "Concord_aio.pread" (Bytes.length b) pos len;
  with_file "pread" fd @@ fun io ->
  let now () = Native.pread_now fd b pos (Int.min len Io.max_bytes) at in
  match at_once "pread" io now with
  | 0 -> Io.perform "pread" io Read (fun () -> Native.pread fd b pos len at)
  | n -> n

let pwrite fd ~at b pos len =
  Io.check "Concord_aio.pwrite" (Bytes.length b) pos len;
  let rec write pos len at =
    if len > 0 then
      let n = Native.pwrite fd b pos len at in
      write (pos + n) (len - n) (at + n)
  in
  with_file "pwrite" fd @@ fun io ->
  let now () = Native.pwrite_now fd b pos len at in
  let n = at_once "pwrite" io now in
  if n < len then
    Io.perform "pwrite" io Write (fun () -> write (pos + n) (len - n) (at + n))
