(* Helpers for the programs in this folder. *)

open Concord_test_support
open Check
module Aio = Concord_aio

let () = Sys.set_signal Sys.sigpipe Sys.Signal_ignore
let descriptors = Concord_test_proc.descriptors

(* The open descriptors and their files, for comparison. This leaves out the descriptor that
   wakes Eio's loop, because Eio closes it only when it is collected. *)
let open_files () =
  let name n =
    let file = try Unix.readlink ("/proc/self/fd/" ^ n) with _ -> "closed" in
    if file = "anon_inode:[eventfd]" then None else Some (n ^ " " ^ file)
  in
  List.filter_map name (Concord_test_proc.entries "self/fd")

(* Another thread may still be waking the loop of Eio's POSIX backend, and closes the loop's pipe
   afterwards. *)
let leaves_none_open f () =
  let before = open_files () in
  f ();
  let deadline = Unix.gettimeofday () +. 5. in
  let rec settled () =
    let after = open_files () in
    if after = before || Unix.gettimeofday () > deadline then after
    else begin
      Thread.delay 0.001;
      settled ()
    end
  in
  Check.strings "the open files" before (settled ())

let with_pipe f =
  let from, to_ = Unix.pipe ~cloexec:true () in
  f from to_

let put fd s = ignore (Unix.write_substring fd s 0 (String.length s) : int)

let get fd =
  let b = Bytes.create 100 in
  let n = Aio.read fd b 0 100 in
  Bytes.sub_string b 0 n

let is_closed f =
  match f () with _ -> false | exception Unix.Unix_error (EBADF, _, _) -> true

let waiting = Concord_aio__Readiness.waiting

(* If this is a task of [run], the loop of [run] must be able to run. *)
let pause () =
  Concord.Tasks.yield ();
  Thread.yield ()

let until_waiting n = eventually "they wait" ~pause (fun () -> waiting () = n)

(* [f ()], in which [standard] is the file of [fd]. On standard descriptors, operations ask the
   system whether they would block, because they must not set [O_NONBLOCK]. *)
let as_standard standard fd f =
  let saved = Unix.dup ~cloexec:true standard in
  Unix.dup2 fd standard;
  Fun.protect f ~finally:(fun () ->
      Unix.dup2 saved standard;
      Unix.close saved)

let temp f =
  let name = Filename.temp_file "concord" "aio" in
  Fun.protect ~finally:(fun () -> Sys.remove name) (fun () -> f name)

(* Opens every descriptor that is left. *)
let exhaust () =
  let rec more all =
    match Unix.dup ~cloexec:true Unix.stdin with
    | fd -> more (fd :: all)
    | exception Unix.Unix_error (EMFILE, _, _) -> all
  in
  more []

let exhausted f =
  let all = exhaust () in
  Fun.protect ~finally:(fun () -> List.iter Unix.close all) f

let loopback = Unix.ADDR_INET (Unix.inet_addr_loopback, 0)

(* A listening socket, and its address. *)
let listening () =
  let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.bind fd loopback;
  Unix.listen fd 1000;
  (fd, Unix.getsockname fd)

let client address =
  let fd = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Aio.connect fd address;
  fd

(* Eio's loop, or a thread that ends, may hold a descriptor for a moment longer. *)
let no_more_than before =
  eventually "no descriptor is left" ~pause (fun () -> descriptors () <= before)
