(* The two pages of the server. *)

open Http_message
open Http_service

let timing = "X-Handled"

let page ~max_n ~fib = function
  | [ "ping" ] -> Some (fun () -> Message.answer `OK "pong")
  | [ "fib"; n ] ->
      Some
        (Pages.with_n ~max_n n (fun n ->
             Message.answer `OK (string_of_int (fib n))))
  | _ -> None

let handle ~max_n ~fib request body =
  let start = Mtime_clock.now_ns () in
  let answer =
    Pages.handle ~hint:"try /fib/30 or /ping" (page ~max_n ~fib) request body
  in
  let handled = Printf.sprintf "%Lu %Lu" start (Mtime_clock.now_ns ()) in
  { answer with headers = (timing, handled) :: answer.headers }
