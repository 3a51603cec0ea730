module By_fd = Multiplexer.By_fd
module Poll = Iomux.Poll
module Flags = Poll.Flags

(* Each call of [poll] passes all descriptors to the system, so no other state is kept. *)
type t = {
  mutable waited_for : Flags.t By_fd.t;
  mutable size : int;
  mutable poll : Poll.t;  (** Has room for [size] descriptors. *)
}

let set t fd ~read ~write =
  let flag wanted flag = if wanted then flag else Flags.empty in
  let flags = Flags.(flag read pollin + flag write pollout) in
  t.waited_for <-
    (if read || write then By_fd.add fd flags t.waited_for
     else By_fd.remove fd t.waited_for)

let make_room t n =
  if n > t.size then begin
    t.poll <- Poll.create ~maxfds:(2 * n) ();
    t.size <- 2 * n
  end

let wait t ~block =
  let all = By_fd.bindings t.waited_for in
  let n = List.length all in
  make_room t n;
  List.iteri (fun i (fd, flags) -> Poll.set_index t.poll i fd flags) all;
  let rec found i count = function
    | (fd, _) :: rest when count > 0 -> (
        match Flags.to_int (Poll.get_revents t.poll i) with
        | 0 -> found (i + 1) count rest
        | bits ->
            (fd, Multiplexer.ready_of_bits bits)
            :: found (i + 1) (count - 1) rest)
    | _ -> []
  in
  match Poll.poll t.poll n (if block then Infinite else Nowait) with
  | count -> found 0 count all
  | exception Unix.Unix_error (EINTR, _, _) -> []

let create () =
  let size = 16 in
  let poll = Poll.create ~maxfds:size () in
  let t = { waited_for = By_fd.empty; size; poll } in
  {
    Multiplexer.set = set t;
    wait = wait t;
    is_settled = (fun () -> true);
    settle = ignore;
  }
