(* Operations that may take forever, or that never have to wait, must let other tasks run. *)

open Concord
open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo
module Blocking_threads = Concord_aio__Blocking_threads

(* --- Files that make a thread wait ------------------------------------------ *)

let with_fifos n f =
  let name = Filename.temp_file "concord" "fifo" in
  Sys.remove name;
  let names = List.init n (fun i -> name ^ string_of_int i) in
  List.iter (fun name -> Unix.mkfifo name 0o600) names;
  Fun.protect
    ~finally:(fun () -> List.iter Sys.remove names)
    (fun () -> f names)

(* The other end is opened, so the waiting [open] succeeds. *)
let rec other_end ~tries name =
  match Unix.openfile name [ O_WRONLY; O_NONBLOCK; O_CLOEXEC ] 0 with
  | fd -> Some fd
  | exception Unix.Unix_error (ENXIO, _, _) when tries > 0 ->
      pause ();
      other_end ~tries:(tries - 1) name
  | exception Unix.Unix_error (ENXIO, _, _) -> None

let open_other_ends names =
  List.map (fun name -> Option.get (other_end ~tries:max_int name)) names

let a_file () =
  (* Each time this is a new file, because its name is in no cache. *)
  temp @@ fun name ->
  let fd = Aio.openfile name [ O_WRONLY; O_CREAT; O_TRUNC ] 0o600 in
  int "written" 5 (Aio.write_substring fd "12345" 0 5);
  Aio.close fd

let an_address () =
  match Aio.getaddrinfo "127.0.0.1" "80" [ AI_NUMERICHOST ] with
  | [] -> Alcotest.fail "no address"
  | _ -> ()

let until_running n =
  eventually "threads wait" ~pause (fun () -> Blocking_threads.running () >= n)

(* More than four files whose other end isn't opened. *)
let blocked_opens () =
  with_fifos 10 @@ fun names ->
  Aio.run @@ fun () ->
  let opened = Atomic.make 0 in
  let open_ name =
    Fifo.fork (fun () ->
        let fd = Aio.openfile name [ O_RDONLY ] 0 in
        Atomic.incr opened;
        Aio.close fd)
  in
  let tasks = List.map open_ names in
  yes "a file" (Option.is_some (Tasks.with_timeout 10. a_file));
  an_address ();
  int "opened" 0 (Atomic.get opened);
  (* Two of them are cancelled. *)
  List.iteri (fun i task -> if i < 2 then Fifo.cancel task) tasks;
  let ends = open_other_ends (List.filteri (fun i _ -> i >= 2) names) in
  List.iter Fifo.join tasks;
  int "opened" 8 (Atomic.get opened);
  (* A job that had not begun was taken back, so nobody opens its file. *)
  let cancelled =
    List.filter_map (other_end ~tries:100)
      (List.filteri (fun i _ -> i < 2) names)
  in
  List.iter Unix.close (ends @ cancelled)

(* At the limit, a file waits until another one has ended, but the resolution of names doesn't.
   A task that is cancelled before its thread has begun ends at once. *)
let at_the_limit () =
  with_fifos Blocking_threads.threads @@ fun names ->
  Aio.run @@ fun () ->
  let open_ name =
    Fifo.fork (fun () -> Aio.close (Aio.openfile name [ O_RDONLY ] 0))
  in
  let tasks = List.map open_ names in
  until_running Blocking_threads.threads;
  let written = ref false in
  let file =
    Fifo.fork (fun () ->
        a_file ();
        written := true)
  in
  let given_up =
    Fifo.fork (fun () ->
        ignore (Aio.openfile "/nowhere" [ O_RDONLY ] 0 : Unix.file_descr))
  in
  Fifo.yield ();
  Fifo.cancel given_up;
  Fifo.join given_up;
  an_address ();
  no "the file waits" !written;
  let ends = open_other_ends names in
  List.iter Fifo.join (file :: tasks);
  List.iter Unix.close ends

(* --- Whole files ------------------------------------------------------------ *)

(* The result is that of Stdlib, or the same failure. *)
let whole_files () =
  let attempt read name =
    match read name with text -> text | exception e -> Printexc.to_string e
  in
  let stdlib name = In_channel.with_open_bin name In_channel.input_all in
  let same name =
    strings name [ attempt stdlib name ] [ attempt Aio.read_file name ]
  in
  let sized size =
    temp @@ fun name ->
    Out_channel.with_open_bin name (fun oc ->
        output_string oc (String.init size (fun i -> Char.chr (i land 255))));
    same name
  in
  Aio.run @@ fun () ->
  List.iter sized [ 0; 1; 4096; 65536; 262_144; 262_145; 1_000_000 ];
  List.iter same
    [ "/nowhere/at/all"; "/tmp"; "/proc/self/cmdline"; "/dev/null"; "a\000b" ]

(* A thread waits for a FIFO. Other tasks continue, and a cancelled task ends at once. *)
let whole_fifo () =
  with_fifos 2 @@ fun names ->
  Aio.run @@ fun () ->
  let text = ref "" in
  let first = List.hd names and second = List.nth names 1 in
  let reader = Fifo.fork (fun () -> text := Aio.read_file first)
  and given_up = Fifo.fork (fun () -> ignore (Aio.read_file second : string)) in
  (* Both have begun when the other ends can be opened. Then they wait for data. *)
  let ends = open_other_ends names in
  strings "another file" [ "" ] [ Aio.read_file "/dev/null" ];
  Fifo.cancel given_up;
  Fifo.join given_up;
  put (List.hd ends) "text";
  List.iter Unix.close ends;
  Fifo.join reader;
  strings "of the FIFO" [ "text" ] [ !text ]

(* --- What the system can wait for ------------------------------------------- *)

external eventfd : unit -> int = "test_eventfd"
external timerfd : unit -> int = "test_timerfd"

let with_special make f =
  match make () with
  | -1 -> ()
  | fd ->
      let fd = Iomux.Util.unix_of_fd fd in
      f fd;
      Aio.close fd

let eventfd () =
  Aio.run @@ fun () ->
  with_special eventfd @@ fun fd ->
  let b = Bytes.make 8 '\000' in
  let threads = Blocking_threads.running () in
  let read () = Aio.read fd b 0 8 in
  yes "it can be given up" (Tasks.with_timeout 0.01 read = None);
  int "no thread reads it" threads (Blocking_threads.running ());
  let reader = Fifo.fork (fun () -> int "read" 8 (read ())) in
  Fifo.yield ();
  let one = Bytes.make 8 '\000' in
  Bytes.set_int64_ne one 0 7L;
  int "written" 8 (Aio.write fd one 0 8);
  Fifo.join reader;
  yes "the number" (Bytes.get_int64_ne b 0 = 7L)

let timerfd () =
  Aio.run @@ fun () ->
  with_special timerfd @@ fun fd ->
  let b = Bytes.make 8 '\000' in
  int "read" 8 (Aio.read fd b 0 8);
  yes "once" (Bytes.get_int64_ne b 0 = 1L)

(* --- Turns ------------------------------------------------------------------ *)

(* One task always finds something to read. This counts how often the other one runs meanwhile. *)
let turns operation =
  let operations = 10_000 in
  let over = ref false and turns = ref 0 in
  Aio.run (fun () ->
      let reader =
        Fifo.fork (fun () ->
            for _ = 1 to operations do
              operation ()
            done;
            over := true)
      in
      while not !over do
        incr turns;
        Fifo.yield ()
      done;
      Fifo.join reader);
  yes "turns" (!turns >= operations / 200)

let fair_files () =
  let fd = Unix.openfile "/dev/zero" [ O_RDONLY; O_CLOEXEC ] 0 in
  let b = Bytes.create 10 in
  turns (fun () -> ignore (Aio.read fd b 0 10 : int));
  Unix.close fd

let fair_sockets () =
  let here, there = Unix.socketpair ~cloexec:true PF_UNIX SOCK_STREAM 0 in
  let b = Bytes.create 1 in
  turns (fun () ->
      put there "x";
      ignore (Aio.read here b 0 1 : int));
  turns (fun () ->
      put there "x";
      ignore (Aio.recv here b 0 1 [] : int));
  as_standard Unix.stdin here (fun () ->
      turns (fun () ->
          put there "x";
          ignore (Aio.read Unix.stdin b 0 1 : int)));
  List.iter Unix.close [ here; there ]

(* --- Datagrams -------------------------------------------------------------- *)

let with_datagrams f =
  let socket () = Unix.socket ~cloexec:true PF_UNIX SOCK_DGRAM 0 in
  let name = Filename.temp_file "concord" "socket" in
  Sys.remove name;
  let receiver = socket () and sender = socket () in
  Unix.bind receiver (ADDR_UNIX name);
  f ~receiver ~sender (Unix.ADDR_UNIX name);
  Aio.close receiver;
  Aio.close sender;
  Sys.remove name

let send fd address s =
  int "sent" (String.length s)
    (Aio.sendto fd (Bytes.of_string s) 0 (String.length s) [] address)

let receive fd =
  let b = Bytes.create 100 in
  let n, _ = Aio.recvfrom fd b 0 100 [] in
  Bytes.sub_string b 0 n

let datagrams run () =
  with_datagrams @@ fun ~receiver ~sender address ->
  let join =
    thread (fun () ->
        until_waiting 1;
        send sender address "one";
        send sender address "two")
  in
  run (fun () ->
      let first = receive receiver in
      strings "in order" [ "one"; "two" ] [ first; receive receiver ]);
  join ()

(* The other socket's queue is full, which no poll reports. The sender must not try all the
   time. *)
let full_queue () =
  with_datagrams @@ fun ~receiver ~sender address ->
  let b = Bytes.make 1 'x' in
  Unix.set_nonblock sender;
  let rec fill n =
    match Unix.sendto sender b 0 1 [] address with
    | _ -> fill (n + 1)
    | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> n
  in
  let n = fill 0 in
  Aio.run @@ fun () ->
  let task = Fifo.fork (fun () -> send sender address "last") in
  let processor = Sys.time () in
  Aio.sleepf 0.3;
  yes "the processor is idle" (Sys.time () -. processor < 0.1);
  for _ = 1 to n do
    strings "before" [ "x" ] [ receive receiver ]
  done;
  strings "the last" [ "last" ] [ receive receiver ];
  Fifo.join task

let places : (string * ((unit -> unit) -> unit)) list =
  [
    ("run", Aio.run);
    ("thread", in_thread);
    ("domain", in_domain);
    ("eio", fun f -> Eio_main.run (fun _ -> f ()));
  ]

let () =
  Check.run "aio: limits"
    [
      ( "files",
        [
          test "opens that block" blocked_opens;
          test "at the limit" at_the_limit;
          test "whole" whole_files;
          test "whole, of a FIFO" whole_fifo;
        ] );
      ("special", [ test "eventfd" eventfd; test "timerfd" timerfd ]);
      ("turns", [ test "a file" fair_files; test "a socket" fair_sockets ]);
      ( "datagrams",
        test "a full queue" full_queue
        :: List.map (fun (name, run) -> test name (datagrams run)) places );
    ]
