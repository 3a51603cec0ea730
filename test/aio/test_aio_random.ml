(* Tasks of several hosts open, use, close and reopen connections at random. So they use
   numbers that others are about to use or close. Each connection has a name, and all data that
   is read from it consists of that name. A read through a number must return the name of a
   connection that had this number meanwhile. A read through a channel must return the name of
   its own connection. No task may wait forever once all are closed. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

(* Every event has its own time. *)
let clock = Atomic.make 0
let now () = Atomic.fetch_and_add clock 1

type connection = {
  name : string;
  fd : Unix.file_descr;
  peer : Unix.file_descr;
  peer_lock : Stdlib.Mutex.t;
      (** Held while [Unix] uses the peer, so that it isn't closed then. *)
  mutable peer_is_open : bool;
  ic : Aio.in_channel;
  oc : Aio.out_channel;
  opened : int;
  closed : int Atomic.t;
      (** The time when it and its peer were certainly closed. *)
}

let slots = Array.init 6 (fun _ -> Atomic.make None)
let all : connection list Atomic.t = Atomic.make []

let open_ slot =
  let opened = now () in
  let fd, peer = Unix.socketpair ~cloexec:true PF_UNIX SOCK_SEQPACKET 0 in
  Unix.set_nonblock peer;
  let name = Printf.sprintf "%06d" opened in
  let ic = Aio.in_channel_of_descr fd and oc = Aio.out_channel_of_descr fd in
  let closed = Atomic.make max_int in
  let peer_lock = Stdlib.Mutex.create () and peer_is_open = true in
  let connection =
    { name; fd; peer; peer_lock; peer_is_open; ic; oc; opened; closed }
  in
  Structure_kit.update all (List.cons connection);
  if not (Atomic.compare_and_set slot None (Some connection)) then begin
    (* No other task has seen it. *)
    Aio.close fd;
    Aio.close peer;
    Atomic.set closed (now ())
  end

let errors = Atomic.make []
let wrong what = Structure_kit.update errors (List.cons what)

(* Only data from its own channel has come. *)
let rec drain ({ name; peer; _ } as connection) =
  let b = Bytes.create 6 in
  match Unix.read peer b 0 6 with
  | 0 -> ()
  | n ->
      if Bytes.sub_string b 0 n <> name then
        wrong (Bytes.sub_string b 0 n ^ " came to the peer of " ^ name);
      drain connection
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK | ECONNRESET), _, _) -> ()

let close ~by_channels slot =
  match Atomic.exchange slot None with
  | None -> ()
  | Some ({ fd; ic; oc; closed; _ } as connection) ->
      if by_channels then Aio.close_in ic;
      (* [close_out] would wait for a writing task, and nothing reads. *)
      Aio.close fd;
      (* These calls do nothing, even if the number belongs to another file by now. *)
      Aio.close_in ic;
      Aio.close_out_noerr oc;
      Stdlib.Mutex.protect connection.peer_lock (fun () ->
          drain connection;
          connection.peer_is_open <- false);
      (* Tasks that read from that number wait for the peer. *)
      Aio.close connection.peer;
      Atomic.set closed (now ())

let feed connection =
  let { name; peer; _ } = connection in
  Stdlib.Mutex.protect connection.peer_lock @@ fun () ->
  if connection.peer_is_open then
    match Unix.write_substring peer name 0 6 with
    | (_ : int) -> ()
    | exception
        Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EPIPE | ECONNRESET), _, _) ->
        ()

let read_number { fd; _ } =
  let before = now () and b = Bytes.create 6 in
  match Aio.read fd b 0 6 with
  | 0 | (exception Unix.Unix_error ((EBADF | ECONNRESET), _, _)) -> ()
  | n -> (
      let after = now () and got = Bytes.sub_string b 0 n in
      let is_it c = c.name = got in
      match List.find_opt is_it (Atomic.get all) with
      | None -> wrong ("read " ^ String.escaped got)
      | Some c ->
          let had_it = (c.fd = fd || c.peer = fd) && c.opened < after in
          if not (had_it && Atomic.get c.closed > before) then
            wrong ("read another one: " ^ got))

let read_channel { name; ic; _ } =
  match Aio.really_input_string ic 6 with
  | got -> if got <> name then wrong (got ^ " read from channel " ^ name)
  | exception (Sys_error _ | End_of_file) -> ()

let write_channel { name; oc; _ } =
  try
    Aio.output_string oc name;
    Aio.flush oc
  with Sys_error _ -> ()

let wait { fd; _ } =
  try Event.(select [ Aio.readable_evt fd; timeout 0.0002 ])
  with Unix.Unix_error (EBADF, _, _) -> ()

(* [may_give_up] is true if the host can cancel tasks. *)
let step random ~may_give_up =
  let below n = Random.State.int random n in
  let slot = slots.(below (Array.length slots)) in
  let patiently f =
    if may_give_up && below 2 = 0 then
      ignore (Tasks.with_timeout 0.0002 f : unit option)
    else f ()
  in
  match Atomic.get slot with
  | None -> open_ slot
  | Some connection -> (
      match below 12 with
      | 0 -> close ~by_channels:false slot
      | 1 -> close ~by_channels:true slot
      | 2 | 3 -> patiently (fun () -> read_number connection)
      | 4 | 5 -> patiently (fun () -> read_channel connection)
      | 6 -> wait connection
      | 7 | 8 -> write_channel connection
      | _ -> feed connection)

let hosts : (string * bool * ((unit -> unit) -> unit)) list =
  [
    ("run", true, Aio.run);
    ("eio", true, fun f -> Eio_main.run (fun _ -> f ()));
    ("fifo", true, fun f -> Fifo.run f);
    ("thread", false, fun f -> f ());
  ]

let steps = if instrumented then 300 else 5_000

(* This doesn't check the number, because it may belong to another file. *)
let is_open { closed; _ } = Atomic.get closed = max_int

(* The pollers get their own descriptors before there are connections. A later poller could get
   the number of a closed connection. A task that still reads from that number would then read
   the poller's notifications. *)
let start_pollers () =
  let from, to_ = Unix.pipe ~cloexec:true () in
  let wait () = Event.(select [ Aio.readable_evt from; timeout 0.001 ]) in
  wait ();
  Aio.run wait;
  Aio.close from;
  Aio.close to_

(* Each host has two tasks in its own domain. The last host has two threads instead. *)
let random () =
  start_pollers ();
  let running = Atomic.make 0 in
  let work index ~may_give_up () =
    let random = Race.random index in
    Fun.protect ~finally:(fun () -> Atomic.decr running) @@ fun () ->
    for _ = 1 to steps do
      step random ~may_give_up
    done
  in
  let start index (_, may_give_up, run) =
    let work i = work ((10 * index) + i) ~may_give_up in
    ignore (Atomic.fetch_and_add running 2 : int);
    let both () =
      if may_give_up then
        run (fun () -> Concord.Tasks.both (work 0) (work 1) |> ignore)
      else begin
        let join = thread (work 0) in
        work 1 ();
        join ()
      end
    in
    if index = 3 then thread both else domain both
  in
  let joins = List.mapi start hosts in
  let turn = ref 0 in
  eventually "all have ended" (fun () ->
      (* All tasks may be waiting, so this closes connections. *)
      incr turn;
      close ~by_channels:(!turn land 8 = 0) slots.(!turn mod Array.length slots);
      Atomic.get running = 0);
  List.iter (fun join -> join ()) joins;
  Array.iter (close ~by_channels:true) slots;
  strings "nothing is wrong" [] (Atomic.get errors);
  yes "many" (List.length (Atomic.get all) > steps / 2);
  int "open connections" 0 (List.length (List.filter is_open (Atomic.get all)))

let () = Check.run "aio: random" [ ("all hosts", [ test "random" random ]) ]
