module Poll = Iomux.Poll
module Flags = Poll.Flags

type 'a watched = {
  fd : Unix.file_descr;
  value : 'a;
  mutable interest : Flags.t;
}

(* Each call tells the system all of it anyway, so nothing else is kept. *)
type 'a t = {
  waited_for : (Unix.file_descr, 'a watched) Hashtbl.t;
  mutable size : int;
  mutable poll : Poll.t;  (** For so many at most. *)
}

let set t one ~read ~write =
  let flag wanted flag = if wanted then flag else Flags.empty in
  one.interest <- Flags.(flag read pollin + flag write pollout);
  if read || write then Hashtbl.replace t.waited_for one.fd one
  else
    match Hashtbl.find_opt t.waited_for one.fd with
    | Some it when it == one -> Hashtbl.remove t.waited_for one.fd
    | Some _ | None -> ()

let watch t fd value =
  let one = { fd; value; interest = Flags.empty } in
  { Multiplexer.set = (fun ~read ~write -> set t one ~read ~write) }

let make_room t n =
  if n > t.size then begin
    t.poll <- Poll.create ~maxfds:(2 * n) ();
    t.size <- 2 * n
  end

let wait t ~block =
  let all = Hashtbl.fold (fun _ one all -> one :: all) t.waited_for [] in
  let n = List.length all in
  make_room t n;
  List.iteri (fun i one -> Poll.set_index t.poll i one.fd one.interest) all;
  let rec found i count = function
    | one :: rest when count > 0 -> (
        match Flags.to_int (Poll.get_revents t.poll i) with
        | 0 -> found (i + 1) count rest
        | bits ->
            (one.value, Multiplexer.ready_of_bits bits)
            :: found (i + 1) (count - 1) rest)
    | _ -> []
  in
  match Poll.poll t.poll n (if block then Infinite else Nowait) with
  | count -> found 0 count all
  | exception Unix.Unix_error (EINTR, _, _) -> []

let create ?(size = 16) () =
  let waited_for = Hashtbl.create size and poll = Poll.create ~maxfds:size () in
  let t = { waited_for; size; poll } in
  {
    Multiplexer.watch = watch t;
    wait = wait t;
    is_settled = (fun () -> true);
    settle = ignore;
    close = ignore;
  }
