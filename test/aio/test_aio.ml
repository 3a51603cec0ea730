(* Descriptors and channels, on every host. *)

open Concord
open Concord_test_support
open Check
open Support

(* --- Hosts ------------------------------------------------------------------ *)

let in_pool f =
  let module Task = Domainslib.Task in
  let pool = Task.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Task.teardown_pool pool)
    (fun () -> Task.run pool f)

let in_style f =
  let result = ref None in
  Concord_styles.Callcc.spawn (fun () -> result := Some (f ()));
  Concord_styles.Callcc.start ();
  Option.get !result

type host = { on : 'a. (unit -> 'a) -> 'a }

let hosts =
  [
    ("run", { on = Aio.run });
    ("fifo", { on = (fun f -> Concord_fifo.run f) });
    ("eio", { on = (fun f -> Eio_main.run (fun _ -> f ())) });
    ("pool", { on = in_pool });
    ("thread", { on = in_thread });
    ("domain", { on = in_domain });
    ("style", { on = in_style });
    ("run in a domain", { on = (fun f -> in_domain (fun () -> Aio.run f)) });
    ( "eio in run",
      { on = (fun f -> Aio.run (fun () -> Eio_main.run (fun _ -> f ()))) } );
    ("run in eio", { on = (fun f -> Eio_main.run (fun _ -> Aio.run f)) });
    ("run in run", { on = (fun f -> Aio.run (fun () -> Aio.run f)) });
    ("style in run", { on = (fun f -> Aio.run (fun () -> in_style f)) });
  ]

let on_each name f =
  (name, List.map (fun (host, { on }) -> test host (fun () -> on f)) hosts)

(* --- Readiness -------------------------------------------------------------- *)

(* The writer doesn't know whether the task waits already, because the poller's state is
   private. Both orders are right, and both occur. *)
let pipe_read () =
  with_pipe @@ fun from to_ ->
  let join = thread (fun () -> put to_ "hello") in
  strings "read" [ "hello" ] [ get from ];
  join ();
  Aio.close to_;
  int "the end" 0 (Aio.read from (Bytes.create 1) 0 1);
  Aio.close from

let readable () =
  with_pipe @@ fun from to_ ->
  yes "not yet" (Event.poll (Aio.readable_evt from) = None);
  let join = thread (fun () -> put to_ "x") in
  Event.sync (Aio.readable_evt from);
  yes "still" (Event.poll (Aio.readable_evt from) = Some ());
  yes "writable" (Event.poll (Aio.writable_evt to_) = Some ());
  join ();
  Aio.close from;
  Aio.close to_;
  raises "closed"
    (Unix.Unix_error (EBADF, "poll", ""))
    (fun () -> Event.sync (Aio.readable_evt from))

let choice () =
  with_pipe @@ fun from to_ ->
  let box = Mvar.create_empty () in
  let choose seconds =
    Event.select
      [
        Event.wrap (Mvar.take_evt box) (fun s -> s);
        Event.wrap (Aio.readable_evt from) (fun () -> "descriptor");
        Event.wrap (Event.timeout seconds) (fun () -> "timeout");
      ]
  in
  strings "timeout" [ "timeout" ] [ choose 0.01 ];
  let join = thread (fun () -> Mvar.put box "message") in
  strings "message" [ "message" ] [ choose 60. ];
  join ();
  let join = thread (fun () -> put to_ "x") in
  strings "descriptor" [ "descriptor" ] [ choose 60. ];
  join ();
  Aio.close from;
  Aio.close to_

(* The task that waited for the descriptor no longer uses it. It may close the descriptor with
   any function. *)
let let_go () =
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  let box = Mvar.create_empty () in
  let join =
    thread (fun () ->
        Event.select [ Mvar.take_evt box; Aio.readable_evt here ];
        Unix.close here)
  in
  until_waiting 1;
  Mvar.put box ();
  Event.sync (Aio.readable_evt there);
  int "the end" 0 (Unix.read there (Bytes.create 1) 0 1);
  join ();
  Unix.close there

let write_much () =
  with_pipe @@ fun from to_ ->
  let n = 1_000_000 in
  let got = ref 0 in
  let read () =
    let b = Bytes.create 5000 in
    let rec loop () =
      let n = Unix.read from b 0 5000 in
      got := !got + n;
      if n > 0 then loop ()
    in
    loop ()
  in
  let join = thread read in
  int "written" n (Aio.write_substring to_ (String.make n 'x') 0 n);
  Aio.close to_;
  join ();
  int "read" n !got;
  Aio.close from

(* --- Channels --------------------------------------------------------------- *)

let slides () =
  temp @@ fun source ->
  temp @@ fun target ->
  let text =
    String.concat "" (List.init 20_000 (fun i -> string_of_int i ^ "\n"))
  in
  Out_channel.with_open_bin source (fun oc -> Out_channel.output_string oc text);
  Slides_async.copy (Aio.open_in source) (Aio.open_out target);
  yes "the copy" (In_channel.with_open_bin target In_channel.input_all = text);
  (* The same exception as Stdlib's. *)
  raises "no such file" (Sys_error "/nowhere/at/all: No such file or directory")
    (fun () -> Aio.open_in "/nowhere/at/all")

let () =
  Check.run "aio"
    [
      on_each "a pipe" pipe_read;
      on_each "readiness" readable;
      on_each "choice" choice;
      on_each "let go" let_go;
      on_each "more than a pipe holds" write_much;
      on_each "the slides' copy" slides;
    ]
