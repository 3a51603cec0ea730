(* Moving the rest of the buffer costs next to nothing, because each read is small and heads
   are short. *)

type t = {
  socket : Host.connection;
  mutable limit : Limit.t;
  mutable data : string;
  mutable start : int;
}

exception Too_late

let create socket = { socket; limit = Limit.never; data = ""; start = 0 }
let set_limit t limit = t.limit <- limit
let length t = String.length t.data - t.start
let get t i = t.data.[t.start + i]

let more t =
  match t.socket.read ~limit:t.limit with
  | None -> raise Too_late
  | Some "" -> raise End_of_file
  | Some data ->
      t.data <-
        (if length t = 0 then data
         else String.sub t.data t.start (length t) ^ data);
      t.start <- 0

let take t n =
  let data = String.sub t.data t.start n in
  t.start <- t.start + n;
  data

let rec skip t n =
  let here = min n (length t) in
  t.start <- t.start + here;
  if here < n then (
    more t;
    skip t (n - here))
