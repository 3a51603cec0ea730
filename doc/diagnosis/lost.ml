open Concord
open Concord.Tools

let answer question =
  let promise = Debug.named question (Promise.create ()) in
  let ask () =
    try Promise.fill promise (int_of_string question)
    with Failure _ -> prerr_endline "no number"
  in
  ignore (Thread.create ask () : Thread.t);
  promise

let () =
  Eio_main.run (fun _ ->
      let n = Promise.await (answer "six") in
      Printf.printf "%d\n" n)
