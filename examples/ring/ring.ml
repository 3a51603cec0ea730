(* A thread of each style, a fiber of Eio, a task of Domainslib and a promise of Lwt stand in a
   ring, to show that all of them can exchange messages. Each member takes the token from its
   left neighbour, adds one hop, and passes the token to its right neighbour.

   ./dev exec ring *)

open Concord

let rounds = 10_000

(* --- The members, each in the style of its library --- *)

module Direct (Style : Concord_styles.Direct) = struct
  let run ~left ~right =
    Style.spawn (fun () ->
        for _ = 1 to rounds do
          let hops = Style.take_mvar left in
          Style.put_mvar right (hops + 1)
        done);
    Style.start ()
end

module Trampolined (Style : Concord_styles.Trampolined) = struct
  open Style

  let rec pass n ~left ~right () =
    if n > 0 then
      take_mvar left >>= fun hops ->
      put_mvar right (hops + 1) >>= pass (n - 1) ~left ~right

  let run ~left ~right =
    spawn (pass rounds ~left ~right);
    start ()
end

module Monadic (Style : Concord_styles.Monadic) = struct
  open Style

  let rec pass n ~left ~right () =
    if n = 0 then skip
    else
      let* hops = take_mvar left in
      let* () = put_mvar right (hops + 1) in
      pass (n - 1) ~left ~right ()

  let run ~left ~right =
    spawn (pass rounds ~left ~right);
    start ()
end

let task ~left ~right =
  for _ = 1 to rounds do
    let hops = Mvar.take left in
    Mvar.put right (hops + 1)
  done

let promise ~left ~right =
  let open Lwt.Syntax in
  let rec pass n =
    if n = 0 then Lwt.return ()
    else
      let* hops = Concord_lwt.Mvar.take left in
      let* () = Concord_lwt.Mvar.put right (hops + 1) in
      pass (n - 1)
  in
  pass rounds

(* The fiber puts the first token into the ring, and counts the rounds. *)
let fiber ~left ~right =
  let rec count round ~report_at =
    let hops = Mvar.take left in
    let report_at =
      if round < report_at then report_at
      else begin
        Printf.printf "round %5d: %6d hops\n%!" round hops;
        10 * report_at
      end
    in
    if round < rounds then begin
      Mvar.put right (hops + 1);
      count (round + 1) ~report_at
    end
  in
  Mvar.put right 1;
  count 1 ~report_at:1

(* --- Where the members run --- *)

(* A fiber of Eio, a task of a pool or a task of Lwt_direct starts the threads of a style.
   Only the caller of [start] waits for them, so the other members on the same domain keep
   running. *)

module Threads = Direct (Concord_styles.Threads)
module Callcc = Direct (Concord_styles.Callcc)
module Delimited = Direct (Concord_styles.Delimited)
module Trampoline = Trampolined (Concord_styles.Trampoline)
module Continuation = Monadic (Concord_styles.Continuation)
module Promise_monad = Monadic (Concord_styles.Promise)
module Events = Trampolined (Concord_styles.Events)

(* The right neighbour of each member is on another domain. Only the last member is on the same
   domain as its neighbour, the Eio fiber, but it is a system thread of its own. *)
let ring =
  [|
    "Eio fiber"; "Domainslib task"; "Lwt promise";
    "callcc"; "delimited"; "continuation";
    "trampoline"; "events"; "promise";
    "threads";
  |]
[@@ocamlformat "disable"]

let mvars = Array.map (fun _ -> Mvar.create_empty ()) ring

let member name run () =
  let i = Option.get (Array.find_index (String.equal name) ring) in
  let next = (i + 1) mod Array.length ring in
  run ~left:mvars.(i) ~right:mvars.(next)

let in_lwt () =
  Concord_lwt.run @@ fun () ->
  Lwt.join
    [
      member "Lwt promise" promise ();
      Lwt_direct.spawn (member "continuation" Continuation.run);
      Lwt_direct.spawn (member "promise" Promise_monad.run);
    ]

let in_pool =
  [
    member "Domainslib task" task;
    member "delimited" Delimited.run;
    member "events" Events.run;
  ]

let in_eio =
  [
    member "Eio fiber" fiber;
    member "callcc" Callcc.run;
    member "trampoline" Trampoline.run;
    member "threads" Threads.run;
  ]

let () =
  Printf.printf "%s\n%!" (String.concat " > " (Array.to_list ring));
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  let tasks = List.map (Concord_domainslib.submit pool) in_pool in
  let lwt = Domain.spawn in_lwt in
  Eio_main.run (fun _ -> Eio.Fiber.all in_eio);
  Domain.join lwt;
  List.iter Promise.await tasks;
  Domainslib.Task.teardown_pool pool
