(* A clock on which every wait seems long, so that the loop never spins. *)
let now = ref 0.

let gettimeofday () =
  now := !now +. 1.;
  !now

(* --- Descriptors ------------------------------------------------------------ *)

type file_descr = int
type error = EAGAIN | EWOULDBLOCK | EINTR | EBADF

exception Unix_error of error * string * string

type kernel = {
  calls : unit Atomic.t;
  bytes : (file_descr, int) Hashtbl.t;
      (** For each open descriptor, how much can be read. *)
  mutable sleepers : (unit -> unit) list;  (** Those that wait in [poll]. *)
}

let kernel = ref None

(* Each scenario calls this before it uses anything else here. *)
let start () =
  kernel :=
    Some { calls = Atomic.make (); bytes = Hashtbl.create 8; sleepers = [] }

(* A system call is one step, and depends on all the others. After an operation on an atomic,
   no other process runs before the next such operation. *)
let call f =
  let kernel = Option.get !kernel in
  Atomic.set kernel.calls ();
  f kernel

let add kernel fd n =
  match Hashtbl.find_opt kernel.bytes fd with
  | None -> raise (Unix_error (EBADF, "", ""))
  | Some before -> Hashtbl.replace kernel.bytes fd (before + n)

(* Bytes written to [fd + 1] are read from [fd]. *)
let pipe ?cloexec:_ () =
  call @@ fun kernel ->
  let fd = 2 * Hashtbl.length kernel.bytes in
  Hashtbl.replace kernel.bytes fd 0;
  Hashtbl.replace kernel.bytes (fd + 1) 0;
  (fd, fd + 1)

(* The sleepers are called only when this step is over. *)
let single_write_substring fd _ _ n =
  let to_wake =
    call @@ fun kernel ->
    add kernel (fd - 1) n;
    let sleepers = kernel.sleepers in
    kernel.sleepers <- [];
    sleepers
  in
  List.iter (fun wake -> wake ()) to_wake;
  n

let read fd _ _ length =
  call @@ fun kernel ->
  match Hashtbl.find_opt kernel.bytes fd with
  | None -> raise (Unix_error (EBADF, "read", ""))
  | Some 0 -> raise (Unix_error (EAGAIN, "read", ""))
  | Some n ->
      let n = Int.min n length in
      add kernel fd (-n);
      n

(* Processes that wait in [poll] aren't notified. *)
let close fd = call (fun kernel -> Hashtbl.remove kernel.bytes fd)
let set_nonblock (_ : file_descr) = ()
let getpid () = 1
