open Actor

exception Boom

let got = string_of_int

(* How often a computation has begun, and how many computations are running. *)
let runs = ref 0
let inside = ref 0

let computing f () =
  incr runs;
  incr inside;
  Fun.protect ~finally:(fun () -> decr inside) f

let lazily ?cancel f = Lazy.from_fun ?cancel (computing f)

(* The first run waits until [p] is filled or the run is cancelled. *)
let first_waits ?cancel p =
  lazily ?cancel (fun () -> if !runs = 1 then Promise.await p else !runs)

let caught f x =
  match f x with
  | v -> got v
  | exception Boom -> "boom"
  | exception Lazy.Undefined -> "undefined"

let force name t = make name (fun () -> caught Lazy.force t)
let watch name t = make name (fun () -> caught Event.sync (Lazy.await_evt t))

let choose name t box =
  make name @@ fun () ->
  caught Event.select [ Lazy.await_evt t; Mvar.take_evt box ]

let fill p v = Do (fun () -> Promise.fill p v)
let put box v = Do (fun () -> if not (Mvar.try_put box v) then failwith "full")

type any = Any : int Lazy.t -> any

let look (Any t) =
  match Atomic.get t with
  | Forcing.Value v -> (got v, 0)
  | Failed _ -> ("failed", 0)
  | Unforced (_, watchers) -> ("unforced", live watchers)
  | Forcing { waiters; watchers; need; _ } ->
      let needs = if Forcing.holds need then "+" else "" in
      ("forcing" ^ needs, live waiters + live watchers)

(* [elsewhere ()] is the number of tasks that wait for something else. *)
let at_rest ts elsewhere actors () =
  let looks = List.map look ts in
  all_queued actors (elsewhere () :: List.map snd looks);
  let is_forcing (state, _) = String.starts_with ~prefix:"forcing" state in
  if List.length (List.filter is_forcing looks) <> !inside then
    failwith "forcing, but no task computes";
  String.concat " " (describe actors :: "|" :: List.map fst looks)
  ^ Printf.sprintf " runs=%d" !runs

(* [make ()] returns the tasks that wait first, the processes, the lazy values, and
   [elsewhere], which counts the tasks that wait for something else. *)
let check name make expect =
  Model.check name ~expect @@ fun () ->
  runs := 0;
  inside := 0;
  let first, processes, ts, elsewhere = make () in
  let processes, actors = start first processes in
  (processes, at_rest ts elsewhere actors)

let nowhere () = 0

(* One lazy value whose first run waits for a promise. *)
let one ?cancel scenario () =
  let p = Promise.create () in
  let t = first_waits ?cancel p in
  let first, processes = scenario t p in
  (first, processes, [ Any t ], fun () -> Promise.waiters p)

let simple f scenario () =
  let t = lazily f in
  ([], scenario t, [ Any t ], nowhere)
