open Concord_generator

type t = (string, Yojson.Safe.t) Consumer.t

exception Too_long

let longest = 1_048_576

(* [Lexing] asks for at most [n] bytes, so the rest of a longer string is kept for the next
   call. [refill] never returns 0 bytes for an empty string, because [Lexing] would take that
   for the end of the input. *)
let refill read =
  let text = ref "" and start = ref 0 and size = ref 0 in
  let rec refill buffer n =
    let left = String.length !text - !start in
    if left > 0 then (
      let n = min n left in
      Bytes.blit_string !text !start buffer 0 n;
      start := !start + n;
      n)
    else
      match read () with
      | None -> 0
      | Some next ->
          size := !size + String.length next;
          if !size > longest then raise Too_long;
          text := next;
          start := 0;
          refill buffer n
  in
  refill

let create () =
  Consumer.create (fun read ->
      Yojson.Safe.from_lexbuf (Yojson.init_lexer ())
        (Lexing.from_function ~with_positions:false (refill read)))
