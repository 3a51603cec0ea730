open Concord
open Concord_buffered

(* The server's own limits for a text and for the elements of a list are higher. *)
let longest = 1_000_000
let largest = 64_000_000

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

let send writer words =
  let word w = Printf.sprintf "$%d\r\n%s\r\n" (String.length w) w in
  Writer.string writer (Printf.sprintf "*%d\r\n" (List.length words));
  List.iter (fun w -> Writer.string writer (word w)) words;
  Writer.flush writer

let number text =
  match Decimal.int text with
  | Some n when n <= largest -> n
  | _ -> failwith ("Concord_redis: too large, or no number: " ^ text)

let signed text =
  let digits, sign =
    if String.starts_with ~prefix:"-" text then
      (String.sub text 1 (String.length text - 1), -1)
    else (text, 1)
  in
  match Decimal.int digits with
  | Some n -> sign * n
  | None -> failwith ("Concord_redis: no number that fits an int: " ^ text)

let rec receive reader =
  match Reader.line ~max:longest reader with
  | "" -> failwith "Concord_redis: the server answers with an empty line"
  | line -> (
      let rest = String.sub line 1 (String.length line - 1) in
      match line.[0] with
      | '+' -> Text rest
      | '-' -> Error rest
      | ':' -> Number (signed rest)
      | ('$' | '*') when rest = "-1" -> Nil
      | '$' ->
          let n = number rest in
          let text = Reader.take reader (n + 2) in
          Text (String.sub text 0 n)
      | '*' -> List (List.init (number rest) (fun _ -> receive reader))
      | _ -> failwith ("Concord_redis: the server answers " ^ line))

let command t words =
  Pool.use t (fun { Socket.reader; writer; _ } ->
      send writer words;
      receive reader)

let connections = Pool.size
let close = Pool.close
