module Poll = Iomux.Poll
module Flags = Poll.Flags

(* [position] is where the arrays have it; -1 if it is not waited for. *)
type 'a watch = { fd : Unix.file_descr; owner : 'a; mutable position : int }

type 'a arrays = {
  watches : 'a watch option array;
  interests : Flags.t array;
  poll : Poll.t;  (** The same, for the system call. *)
}

(* A signal handler may raise anywhere: what is half done is done again. *)
type 'a t = { mutable arrays : 'a arrays; mutable n : int }

let watch fd owner = { fd; owner; position = -1 }

let arrays size =
  {
    watches = Array.make size None;
    interests = Array.make size Flags.empty;
    poll = Poll.create ~maxfds:size ();
  }

let create () = { arrays = arrays 16; n = 0 }

let put { watches; interests; poll } watch position interest =
  watches.(position) <- Some watch;
  interests.(position) <- interest;
  Poll.set_index poll position watch.fd interest

let copy_from { watches; interests; _ } n arrays =
  let copy i watch = put arrays watch i interests.(i) in
  for i = 0 to n - 1 do
    Option.iter (copy i) watches.(i)
  done

let add { arrays = before; n } =
  if n < Array.length before.watches then before
  else begin
    let larger = arrays (2 * n) in
    copy_from before n larger;
    larger
  end

let set t watch ~read ~write =
  let flag wanted flag = if wanted then flag else Flags.empty in
  let interest = Flags.(flag read pollin + flag write pollout) in
  let { position; _ } = watch in
  if read || write then
    if position >= 0 then put t.arrays watch position interest
    else begin
      t.arrays <- add t;
      put t.arrays watch t.n interest;
      watch.position <- t.n;
      t.n <- t.n + 1
    end
  else if position >= 0 then begin
    (* the last one takes its place *)
    let last = t.n - 1 in
    let moved = Option.get t.arrays.watches.(last) in
    put t.arrays moved position t.arrays.interests.(last);
    moved.position <- position;
    watch.position <- -1;
    t.arrays.watches.(last) <- None;
    t.n <- last
  end

(* All are collected first: [found] may change the positions. *)
let ready { watches; poll; _ } ~n ~count =
  let rec from i count =
    if count = 0 || i = n then []
    else
      match Flags.to_int (Poll.get_revents poll i) with
      | 0 -> from (i + 1) count
      | bits ->
          let { owner; _ } = Option.get watches.(i) in
          (owner, Revents.of_bits bits) :: from (i + 1) (count - 1)
  in
  from 0 count

let wait t ~block =
  let { arrays; n } = t in
  match Poll.poll arrays.poll n (if block then Infinite else Nowait) with
  | 0 -> []
  | count -> ready arrays ~n ~count
  | exception Unix.Unix_error (EINTR, _, _) -> []
