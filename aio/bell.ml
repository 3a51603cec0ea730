type t = { out : Unix.file_descr; in_ : Unix.file_descr }

let create () =
  let out, in_ = Unix.pipe ~cloexec:true () in
  Unix.set_nonblock out;
  Unix.set_nonblock in_;
  { out; in_ }

let descr t = t.out

let close t =
  Unix.close t.in_;
  Unix.close t.out

(* A pipe that is full rings anyway. If a signal handler raises before, it rings nevertheless:
   nobody else would. *)
let rec ring t =
  try ignore (Unix.single_write_substring t.in_ "!" 0 1 : int) with
  | Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  | Unix.Unix_error (EINTR, _, _) -> ring t
  | Unix.Unix_error _ as e -> raise e
  | e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ring t;
      Printexc.raise_with_backtrace e backtrace

let rec listen t =
  match Unix.read t.out (Bytes.create 64) 0 64 with
  | 64 -> listen t
  | _ -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> ()
