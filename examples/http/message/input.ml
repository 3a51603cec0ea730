(* Moving the rest of the buffer costs next to nothing, because each read is small and heads
   are short. *)

type t = {
  more_bytes : unit -> string;
  mutable data : string;
  mutable start : int;
}

let create read = { more_bytes = read; data = ""; start = 0 }
let length t = String.length t.data - t.start
let get t i = t.data.[t.start + i]

let more t =
  match t.more_bytes () with
  | "" -> raise End_of_file
  | data ->
      t.data <-
        (if length t = 0 then data
         else String.sub t.data t.start (length t) ^ data);
      t.start <- 0

let take t n =
  let data = String.sub t.data t.start n in
  t.start <- t.start + n;
  data

let read t n =
  let whole = Buffer.create n in
  let rec go left =
    let here = min left (length t) in
    Buffer.add_string whole (take t here);
    if here < left then (
      more t;
      go (left - here))
  in
  go n;
  Buffer.contents whole

let rec skip t n =
  let here = min n (length t) in
  t.start <- t.start + here;
  if here < n then (
    more t;
    skip t (n - here))
