module Promise = Concord.Promise

type t = {
  fd : Unix.file_descr;
  io : Io.t option;  (** [None] for a standard descriptor. *)
  is_file : bool;
  shut : unit Promise.t;  (** Filled by the first [close]. *)
  lock : Concord.Mutex.t;
}

(* --- Stdlib's exceptions -------------------------------------------------- *)

let as_sys_error ?name f =
  try f ()
  with Unix.Unix_error (error, _, _) ->
    let backtrace = Printexc.get_raw_backtrace () in
    let prefix = match name with Some name -> name ^ ": " | None -> "" in
    let error = Sys_error (prefix ^ Unix.error_message error) in
    Printexc.raise_with_backtrace error backtrace

(* --- Opening and closing -------------------------------------------------- *)

let create ?(standard = false) fd =
  as_sys_error @@ fun () ->
  let shut = Promise.create ~name:"the end of a channel" () in
  let io, kind =
    if not standard then begin
      let io = Io.find ~shut "channel" fd in
      ignore (Atomic.fetch_and_add (Owner.channels io.owner) 1 : int);
      (Some io, io.kind)
    end
    else
      match Io.with_ "channel" fd (fun { kind; _ } -> kind) with
      | kind -> (None, kind)
      | exception Unix.Unix_error _ -> (None, Shared)
  in
  { fd; io; is_file = kind = File; shut; lock = Concord.Mutex.create () }

let unix_flag = function
  | Open_rdonly -> [ Unix.O_RDONLY ]
  | Open_wronly -> [ O_WRONLY ]
  | Open_append -> [ O_APPEND ]
  | Open_creat -> [ O_CREAT ]
  | Open_trunc -> [ O_TRUNC ]
  | Open_excl -> [ O_EXCL ]
  | Open_nonblock -> [ O_NONBLOCK ]
  | Open_binary | Open_text -> []

let open_ flags perm name of_descr =
  as_sys_error ~name @@ fun () ->
  let fd = Descriptor.openfile name (List.concat_map unix_flag flags) perm in
  try of_descr fd
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    (try Io.close fd with Unix.Unix_error _ -> ());
    Printexc.raise_with_backtrace e backtrace

let descr t = t.fd
let is_file t = t.is_file
let is_closed t = Promise.is_resolved t.shut
let shut t = Promise.try_fill t.shut ()

(* A standard descriptor is closed even if other channels share it. *)
let release t =
  as_sys_error @@ fun () ->
  match t.io with
  | None -> Io.close t.fd
  | Some { owner; _ } ->
      let close () =
        if Atomic.fetch_and_add (Owner.channels owner) (-1) = 1 then
          ignore (Io.close_owner owner : bool)
      in
      Ensure.finally Owner.leave owner close ()

let close t = if shut t then release t

(* --- Operations ----------------------------------------------------------- *)

let check_open t =
  if is_closed t then raise (Unix.Unix_error (EBADF, "channel", ""))

(* If the channel is closed already, its last operation may have the lock for a long time. *)
let locked t f =
  as_sys_error @@ fun () ->
  check_open t;
  Concord.Mutex.protect t.lock @@ fun () ->
  check_open t;
  f ()

let last t f = as_sys_error (fun () -> Concord.Mutex.protect t.lock f)

let with_io ?(last = false) name t f =
  let shut = if last then None else Some t.shut in
  match t.io with
  | Some io -> f { io with shut }
  | None -> Io.with_ ?shut name t.fd f

let read t b pos len = with_io "read" t (fun io -> Io.read io b pos len)

let write ~last t b pos len =
  with_io ~last "write" t (fun io -> Io.write io b pos len)

let write_now t b pos len =
  with_io ~last:true "write" t (fun io -> Io.write_now io b pos len)

(* Passes [Unix.lseek] to [f]. The descriptor can't be closed between the calls in [f]. *)
let seeking t f =
  with_io "lseek" t (fun io ->
      Io.using "lseek" io (fun () -> f (Unix.lseek t.fd)))

let seek t position = ignore (seeking t (fun seek -> seek position SEEK_SET))

(* As in Stdlib, a channel begins at 0 even if it appends. *)
let first_position t = function
  | Some position -> position
  | None -> (
      try seeking t (fun seek -> seek 0 SEEK_CUR) with Unix.Unix_error _ -> -1)

(* The length of a regular file is known without a seek, which would disturb another channel that
   reads. Files in /proc have a size of 0 although they have bytes, so they need the seek. *)
let length t =
  seeking t @@ fun seek ->
  let here = seek 0 SEEK_CUR in
  match Unix.LargeFile.fstat t.fd with
  | { st_kind = S_REG; st_size; _ } when st_size > 0L -> Int64.to_int st_size
  | _ ->
      let length = seek 0 SEEK_END in
      ignore (seek here SEEK_SET : int);
      length
