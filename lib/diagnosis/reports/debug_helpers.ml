(* The child of a fork has no helpers. This is updated once the thread exists, before the
   thread that started it does anything else. *)
type helpers = { process : int; idle : int }

let helpers = Atomic.make { process = 0; idle = 0 }

let count () =
  let { process; idle } = Atomic.get helpers in
  if process = Unix.getpid () then idle else 0

let ask () = { Helpers.idle = count (); busy = 0 }

let add_one () =
  let this = Unix.getpid () in
  let before = Atomic.get helpers in
  if before.process = 0 then Helpers.add ask;
  Atomically.update helpers (fun { process; idle } ->
      { process = this; idle = (if process = this then idle + 1 else 1) })

let start serve =
  Signals.while_blocked @@ fun _ ->
  if Domain.is_main_domain () then ignore (Thread.create serve () : Thread.t)
  else ignore (Domain.spawn serve : unit Domain.t);
  add_one ()

let write text =
  let rec from i =
    if i < String.length text then
      match
        Unix.single_write_substring Unix.stderr text i (String.length text - i)
      with
      | n -> from (i + n)
      | exception Unix.Unix_error (EINTR, _, _) -> from i
      | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
          Thread.delay 0.001;
          from i
      | exception Unix.Unix_error _ -> ()
  in
  from 0
