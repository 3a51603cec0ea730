(* [poll(2)] over the descriptors of [unix.ml]. *)

module Util = struct
  let unix_of_fd : int -> Unix.file_descr = Fun.id
  let fd_of_unix : Unix.file_descr -> int = Fun.id
end

module Poll = struct
  module Flags = struct
    type t = int

    let empty = 0
    let pollin = 1
    let pollout = 4
    let pollerr = 8
    let pollhup = 16
    let pollnval = 32
    let ( + ) = ( lor )
    let mem a b = a land b <> 0
    let to_int = Fun.id
  end

  type place = { fd : Unix.file_descr; wanted : int; found : int }
  type t = place array
  type poll_timeout = Infinite | Nowait

  exception Interrupted

  let create ~maxfds () = Array.make maxfds { fd = -1; wanted = 0; found = 0 }
  let set_index t i fd wanted = t.(i) <- { fd; wanted; found = 0 }
  let get_revents t i = t.(i).found

  (* There is always room to write. *)
  let state (kernel : Unix.kernel) fd =
    match Hashtbl.find_opt kernel.bytes fd with
    | None -> Flags.pollnval
    | Some 0 -> Flags.pollout
    | Some _ -> Flags.(pollin + pollout)

  let look t n kernel =
    let count = ref 0 in
    for i = 0 to n - 1 do
      let place = t.(i) in
      let found = state kernel place.fd land Flags.(place.wanted + pollnval) in
      t.(i) <- { place with found };
      if found <> 0 then incr count
    done;
    !count

  let interrupt : (unit -> unit) option ref = ref None

  (* The number of descriptors in the last call. *)
  let polled = ref 0

  (* After it is woken, it polls again, as the kernel does. *)
  let rec poll t n timeout =
    polled := n;
    match timeout with
    | Nowait -> Unix.call (look t n)
    | Infinite -> (
        let block resumer =
          Unix.call @@ fun kernel ->
          match look t n kernel with
          | 0 ->
              let wake () = ignore (resumer (Ok None) : bool) in
              kernel.sleepers <- [ wake ];
              interrupt :=
                Some (fun () -> ignore (resumer (Error Interrupted) : bool));
              None
          | count -> Some (Some count)
        in
        match Suspend.suspend block with
        | Some count -> count
        | None -> poll t n Infinite)
end
