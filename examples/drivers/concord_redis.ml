open Concord

type t = Socket.t Pool.t

type reply =
  | Text of string
  | Number of int
  | Nil
  | List of reply list
  | Error of string

let connect ~patience address () =
  match Tasks.with_timeout patience (fun () -> Socket.connect address) with
  | Some socket -> socket
  | None -> failwith "Concord_redis: the server doesn't answer"

let create ?(connections = 10) ?(patience = 5.) address =
  Pool.create ~name:"redis" ~dispose:Socket.close connections
    (connect ~patience address)

let send socket words =
  let word w = Printf.sprintf "$%d\r\n%s\r\n" (String.length w) w in
  Socket.write socket (Printf.sprintf "*%d\r\n" (List.length words));
  List.iter (fun w -> Socket.write socket (word w)) words;
  Socket.flush socket

let rec receive socket =
  match Socket.line socket with
  | None | Some "" -> raise End_of_file
  | Some line -> (
      let rest = String.sub line 1 (String.length line - 1) in
      match line.[0] with
      | '+' -> Text rest
      | '-' -> Error rest
      | ':' -> Number (int_of_string rest)
      | ('$' | '*') when rest = "-1" -> Nil
      | '$' ->
          let n = int_of_string rest in
          let text = Socket.really_read socket (n + 2) in
          Text (String.sub text 0 n)
      | '*' -> List (List.init (int_of_string rest) (fun _ -> receive socket))
      | _ -> failwith ("Concord_redis: the server answers " ^ line))

let command t words =
  Pool.use t (fun socket ->
      send socket words;
      receive socket)

let connections = Pool.size
let close = Pool.close
