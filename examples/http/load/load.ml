(* Each request is a fiber. It takes the connection that has been idle for the longest time, so
   all connections are used. *)

open Eio.Std

type stream = { path : string; rate : float }

type result = {
  per_second : float;
  latency : float -> float;
  unanswered : int;
  failures : string list;
}

(* In seconds. Answers count only if they arrive within this time after the last request was
   due. *)
let patience = 2.

type outcome = Pending | Answered of int | Failed of string
type request = { due : int; mutable outcome : outcome }

let to_seconds ns = float ns *. 1e-9
let of_seconds s = int_of_float (s *. 1e9)

(* All times are in nanoseconds. *)
let now clock = Int64.to_int (Mtime.to_uint64_ns (Eio.Time.Mono.now clock))

let sleep_until clock ns =
  Eio.Time.Mono.sleep_until clock (Mtime.of_uint64_ns (Int64.of_int ns))

(* A connection is opened when its first request is due. *)
type place = { mutable client : Client.t option }

let client_in place ~connect =
  match place.client with
  | Some client when Client.usable client -> client
  | unusable ->
      Option.iter Client.close unusable;
      place.client <- None;
      let client = connect () in
      place.client <- Some client;
      client

let perform ~clock ~connect idle path request =
  let place = Concord.Mailbox.take idle in
  (match Client.get (client_in place ~connect) path with
  | (_ : (string * string) list) -> request.outcome <- Answered (now clock)
  | exception ((Eio.Io _ | Failure _) as e) ->
      request.outcome <- Failed (Printexc.to_string e));
  Concord.Mailbox.add idle place

let send_all ~clock ~connect ~connections stream requests =
  Switch.run @@ fun sw ->
  let connect () = connect ~sw and idle = Concord.Mailbox.create () in
  for _ = 1 to connections do
    Concord.Mailbox.add idle { client = None }
  done;
  requests
  |> List.iter @@ fun request ->
     sleep_until clock request.due;
     Fiber.fork ~sw (fun () -> perform ~clock ~connect idle stream.path request)

let schedule ~start ~seconds { rate; _ } =
  List.init
    (int_of_float (Float.round (rate *. seconds)))
    (fun i -> { due = start + of_seconds (float i /. rate); outcome = Pending })

let summarise ~first ~seconds ~given_up requests =
  let requests = List.filter (fun request -> request.due >= first) requests in
  let answers =
    List.filter_map
      (fun { outcome; _ } ->
        match outcome with Answered at -> Some at | _ -> None)
      requests
  in
  let latency { due; outcome } =
    let since_due at = Some (to_seconds (at - due) *. 1e3) in
    match outcome with
    | Answered at -> since_due at
    | Pending -> since_due given_up
    | Failed _ -> None
  in
  let last = List.fold_left max first answers in
  {
    per_second =
      float (List.length answers)
      /. Float.max seconds (to_seconds (last - first));
    latency = Percentiles.of_list (List.filter_map latency requests);
    unanswered =
      List.length (List.filter (fun r -> r.outcome = Pending) requests);
    failures =
      List.filter_map
        (fun { outcome; _ } ->
          match outcome with Failed text -> Some text | _ -> None)
        requests;
  }

let run ~clock ~connect ~connections ~warm_up ~seconds streams =
  let start = now clock in
  let total = warm_up +. seconds in
  let plans =
    List.map
      (fun stream -> (stream, schedule ~start ~seconds:total stream))
      streams
  in
  Fiber.first
    (fun () ->
      Fiber.List.iter
        (fun (stream, requests) ->
          send_all ~clock ~connect ~connections stream requests)
        plans)
    (fun () -> Eio.Time.Mono.sleep clock (total +. patience));
  let given_up = now clock in
  List.map
    (fun (_, requests) ->
      summarise ~first:(start + of_seconds warm_up) ~seconds ~given_up requests)
    plans
