(* Services that get signals in a process of their own. Their output tells the test how far
   they are. *)

open Concord

let say text =
  print_endline text;
  flush stdout

let name signal =
  if signal = Sys.sigterm then "SIGTERM"
  else if signal = Sys.sigint then "SIGINT"
  else string_of_int signal

(* OCaml's own signal handler, which doesn't run while the only thread waits. *)
let naive () =
  Sys.set_signal Sys.sigterm (Signal_handle (fun _ -> say "heard"));
  say "ready";
  Promise.await (Promise.create ())

let parked () =
  let stop = Signal.once [ Sys.sigterm; Sys.sigint ] in
  say "ready";
  say (name (Promise.await stop))

let crowd () =
  let stop = Signal.once [ Sys.sigterm ] in
  let wait _ =
    Promise.in_thread (fun () -> ignore (Promise.await stop : int))
  in
  let threads = List.init 5 wait in
  say "ready";
  ignore (Promise.await (Promise.all threads) : unit list);
  say "SIGTERM"

(* The tasks always have work to do, or wait only briefly. *)
let busy () =
  let stop = Signal.once [ Sys.sigterm; Sys.sigint ] in
  let box = Mvar.create_empty () in
  say "ready";
  let rec send n =
    match
      Event.sync @@ Event.unless (Promise.await_evt stop) (Mvar.put_evt box n)
    with
    | Some () ->
        if n mod 100 = 0 then Tasks.sleep 0.000_1;
        send (n + 1)
    | None -> ()
  and receive () =
    match
      Event.sync @@ Event.unless (Promise.await_evt stop) (Mvar.take_evt box)
    with
    | Some (_ : int) -> receive ()
    | None -> ()
  in
  ignore (Tasks.both (fun () -> send 0) receive : unit * unit);
  say (name (Promise.await stop))

(* Ignores the first signal. *)
let stuck () =
  let stop = Signal.once [ Sys.sigterm ] in
  say "ready";
  say (name (Promise.await stop));
  Event.sync Event.never

let leaves () = ignore (Signal.once [ Sys.sigterm ] : int Promise.t)

let watches () =
  Signal.with_watch Sys.sighup @@ fun hups ->
  let stop = Signal.once [ Sys.sigterm ] in
  let rec serve seen =
    match
      Event.sync
      @@ Event.unless (Promise.await_evt stop)
           (Watch.changed_evt hups ~since:seen)
    with
    | Some (count, seen) ->
        say (string_of_int count);
        serve seen
    | None -> say "SIGTERM"
  in
  let _, seen = Watch.read hups in
  say "ready";
  serve seen

let shutdown () =
  let stop = Signal.once [ Sys.sigterm ] in
  let jobs = Mailbox.create () in
  let ended =
    Shutdown.run ~stop ~grace:20.
      ~close:
        [
          (fun () -> say "closing");
          (fun () ->
            Mailbox.add jobs "last";
            Mailbox.close jobs);
        ]
      (fun () ->
        say "ready";
        Mailbox.iter say jobs)
  in
  say (if ended.cut_short then "cut short" else "drained")

let roles =
  [
    ("naive", naive);
    ("parked", parked);
    ("crowd", crowd);
    ("busy", busy);
    ("stuck", stuck);
    ("leaves", leaves);
    ("watches", watches);
    ("shutdown", shutdown);
  ]

let main hosts = (List.assoc Sys.argv.(2) hosts) (List.assoc Sys.argv.(1) roles)
