(* Waits for a pipe, in a program with a second domain. The environment selects the means.
   Prints whether there was an io_uring then. *)

let has_ring () =
  let is_ring fd =
    match Unix.readlink ("/proc/self/fd/" ^ fd) with
    | "anon_inode:[io_uring]" -> true
    | _ | (exception Unix.Unix_error _) -> false
  in
  match Sys.readdir "/proc/self/fd" with
  | fds -> Array.exists is_ring fds
  | exception Sys_error _ -> false

let () =
  Domain.join (Domain.spawn ignore);
  let from, to_ = Unix.pipe ~cloexec:true () in
  match
    Concord_aio.run (fun () ->
        let writer =
          Concord_fifo.fork (fun () ->
              ignore (Concord_aio.write_substring to_ "x" 0 1 : int))
        in
        ignore (Concord_aio.read from (Bytes.create 1) 0 1 : int);
        Concord_fifo.join writer)
  with
  | () -> print_endline (if has_ring () then "read by a ring" else "read")
  | exception Failure reason -> print_endline reason
