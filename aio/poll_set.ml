module Poll = Iomux.Poll
module Flags = Poll.Flags

type 'a watched = {
  fd : Unix.file_descr;
  value : 'a;
  mutable interest : Flags.t;
  mutable position : int;  (** In the arrays; -1 if it is not waited for. *)
}

type 'a arrays = {
  watched : 'a watched option array;
  poll : Poll.t;  (** The same, for the system call. *)
}

(* A signal handler may raise anywhere: what is half done is done again. *)
type 'a t = { mutable arrays : 'a arrays; mutable n : int }

let arrays size =
  { watched = Array.make size None; poll = Poll.create ~maxfds:size () }

let put { watched; poll } position one =
  watched.(position) <- Some one;
  Poll.set_index poll position one.fd one.interest

let make_room t =
  if t.n = Array.length t.arrays.watched then begin
    let larger = arrays (2 * t.n) in
    Array.iteri (fun i one -> Option.iter (put larger i) one) t.arrays.watched;
    t.arrays <- larger
  end

let add t one =
  make_room t;
  put t.arrays t.n one;
  one.position <- t.n;
  t.n <- t.n + 1

(* The last one takes its position. *)
let remove t one =
  let last = t.n - 1 in
  let moved = Option.get t.arrays.watched.(last) in
  put t.arrays one.position moved;
  moved.position <- one.position;
  one.position <- -1;
  t.arrays.watched.(last) <- None;
  t.n <- last

let set t one ~read ~write =
  let flag wanted flag = if wanted then flag else Flags.empty in
  one.interest <- Flags.(flag read pollin + flag write pollout);
  match (read || write, one.position >= 0) with
  | true, true -> put t.arrays one.position one
  | true, false -> add t one
  | false, true -> remove t one
  | false, false -> ()

let watch t fd value =
  let one = { fd; value; interest = Flags.empty; position = -1 } in
  { Multiplexer.set = (fun ~read ~write -> set t one ~read ~write) }

let wait t ~block =
  let { arrays = { watched; poll }; n } = t in
  let rec from i count =
    if count = 0 || i = n then []
    else
      match Flags.to_int (Poll.get_revents poll i) with
      | 0 -> from (i + 1) count
      | bits ->
          let { value; _ } = Option.get watched.(i) in
          (value, Multiplexer.ready_of_bits bits) :: from (i + 1) (count - 1)
  in
  match Poll.poll poll n (if block then Infinite else Nowait) with
  | count -> from 0 count
  | exception Unix.Unix_error (EINTR, _, _) -> []

let create () =
  let t = { arrays = arrays 16; n = 0 } in
  {
    Multiplexer.watch = watch t;
    wait = wait t;
    is_settled = (fun () -> true);
    settle = ignore;
    close = ignore;
  }
