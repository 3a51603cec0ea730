(* The client and the server use the same clock, the system's monotonic one, so their times can
   be compared. *)

open Eio.Std

type request = {
  sent : float;
  started : float;
  ended : float;
  answered : float;
}

type ping = { asked : float; ponged : float }
type t = { title : string; requests : request list; pings : ping list }

let count = 4
let since origin ns = Int64.to_float (Int64.sub ns origin) *. 1e-6
let elapsed origin = since origin (Mtime_clock.now_ns ())

let handled ~origin headers =
  let value =
    List.assoc (String.lowercase_ascii Fib_service.Routes.timing) headers
  in
  Scanf.sscanf value "%Ld %Ld" (fun start finish ->
      (since origin start, since origin finish))

let send_request ~origin client path =
  let sent = elapsed origin in
  let headers = Http_load.Client.get client path in
  let answered = elapsed origin in
  let started, ended = handled ~origin headers in
  { sent; started; ended; answered }

let send_ping ~origin client =
  let asked = elapsed origin in
  ignore (Http_load.Client.get client "/ping");
  { asked; ponged = elapsed origin }

(* Pings that are in progress when the last request is answered count too. *)
let ping_until ~sw ~clock ~connect ~origin ~gap stop =
  let pool = Eio.Pool.create 100 (fun () -> connect ~sw) in
  let rec next sent =
    if Promise.is_resolved stop then List.rev_map Promise.await_exn sent
    else
      let ping =
        Fiber.fork_promise ~sw (fun () -> Eio.Pool.use pool (send_ping ~origin))
      in
      Eio.Time.Mono.sleep clock gap;
      next (ping :: sent)
  in
  next []

let capture ~clock ~connect ~title ~path ~gap =
  Switch.run @@ fun sw ->
  let clients = List.init count (fun _ -> connect ~sw) in
  (* The first answers of a server, and those on a new connection, are slower, so they don't
     count. *)
  List.iter (fun client -> ignore (Http_load.Client.get client "/ping")) clients;
  ignore (Http_load.Client.get (List.hd clients) path);
  let origin = Mtime_clock.now_ns () in
  let stop, resolve_stop = Promise.create () in
  let requests, pings =
    Fiber.pair
      (fun () ->
        let requests =
          Fiber.List.map
            (fun (i, client) ->
              Eio.Time.Mono.sleep clock (float i *. gap);
              send_request ~origin client path)
            (List.mapi (fun i client -> (i, client)) clients)
        in
        Promise.resolve resolve_stop ();
        requests)
      (fun () -> ping_until ~sw ~clock ~connect ~origin ~gap:(gap /. 2.) stop)
  in
  { title; requests; pings }

let duration t =
  let latest = List.fold_left Float.max 0. in
  Float.max
    (latest (List.map (fun r -> r.answered) t.requests))
    (latest (List.map (fun p -> p.ponged) t.pings))

let verdict t =
  let in_progress at =
    List.length
      (List.filter (fun r -> r.started <= at && at < r.ended) t.requests)
  in
  match
    List.fold_left (fun most r -> max most (in_progress r.started)) 0 t.requests
  with
  | 1 -> "serialised: one request after the other"
  | most -> Printf.sprintf "pipelined: up to %d requests at the same time" most
