open Concord
open Concord_styles.Trampoline

type 'a outcome = ('a, int * string) result
type 'a operation = ('a outcome -> unit) -> unit

let succeed v k = k (Ok v)

let ( >>? ) operation f k =
  operation >>= function Ok v -> f v k | Error e -> k (Error e)

(* --- Sockets --- *)

let rec attempt ~patience ready f k =
  match f () with
  | v -> k (Ok v)
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> (
      sync (Event.unless (Event.timeout patience) ready) >>= function
      | Some () -> attempt ~patience ready f k
      | None -> k (Error (421, "Timed out")))
  | exception Unix.Unix_error (error, _, _) ->
      k (Error (426, Unix.error_message error))

let listen address =
  let socket =
    Unix.socket ~cloexec:true (Unix.domain_of_sockaddr address) SOCK_STREAM 0
  in
  try
    Unix.setsockopt socket SO_REUSEADDR true;
    Unix.bind socket address;
    Unix.listen socket 511;
    Unix.set_nonblock socket;
    socket
  with e ->
    Unix.close socket;
    raise e

(* With the delay (Nagle's algorithm), the reply after a transfer would wait until the client
   acknowledges the one before, which may take 40 ms. *)
let accept ~patience listener =
  attempt ~patience (Concord_aio.readable_evt listener) (fun () ->
      let socket, peer = Unix.accept ~cloexec:true listener in
      Unix.set_nonblock socket;
      Unix.setsockopt socket TCP_NODELAY true;
      (socket, peer))

let receive ~patience socket buffer =
  attempt ~patience (Concord_aio.readable_evt socket) (fun () ->
      Unix.read socket buffer 0 (Bytes.length buffer))

let rec send_part ~patience socket buffer start stop =
  if start = stop then succeed ()
  else
    attempt ~patience (Concord_aio.writable_evt socket) (fun () ->
        Unix.single_write socket buffer start (stop - start))
    >>? fun written -> send_part ~patience socket buffer (start + written) stop

let send ~patience socket text =
  send_part ~patience socket (Bytes.of_string text) 0 (String.length text)

(* --- Files --- *)

(* The system can't report when a file is ready, so Concord_aio reads and writes it. It does
   that in direct style, where errors are exceptions. *)
let in_direct_style ~code f =
  direct (fun () ->
      match f () with
      | v -> Ok v
      | exception Unix.Unix_error (error, _, _) ->
          Error (code, Unix.error_message error))

let file f = in_direct_style ~code:451 f
let look f = in_direct_style ~code:550 f

let seek descriptor position =
  file (fun () -> ignore (Unix.lseek descriptor position SEEK_SET : int))

let close descriptor k =
  file (fun () -> Concord_aio.close descriptor) >>= fun _ -> k ()

let remove name = file (fun () -> Concord_aio.unlink name)

let with_file name flags f k =
  file (fun () -> Concord_aio.openfile name flags 0o644) >>= function
  | Error e -> k (Error e)
  | Ok descriptor ->
      f descriptor >>= fun outcome ->
      close descriptor >>= fun () -> k outcome

let block_size = 32 * 1024

(* Yields before each block. Otherwise a client that is as fast as the disk would let no other
   session run. *)
let in_turn f k = yield >>= fun () -> f () k

let download ~patience socket ~from =
  let block = Bytes.create block_size in
  let rec next () =
    file (fun () -> Concord_aio.read from block 0 block_size) >>? function
    | 0 -> succeed ()
    | n -> send_part ~patience socket block 0 n >>? fun () -> in_turn next
  in
  next ()

let upload ~patience socket ~to_ =
  let block = Bytes.create block_size in
  let rec next () =
    receive ~patience socket block >>? function
    | 0 -> succeed ()
    | n ->
        file (fun () -> Concord_aio.write to_ block 0 n) >>? fun _ ->
        in_turn next
  in
  next ()
