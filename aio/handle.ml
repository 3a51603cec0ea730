type t = {
  fd : Unix.file_descr;
  owner : (Owner.t * Io.kind) option;  (** [None] for a standard descriptor. *)
  direction : Owner.direction;
  is_file : bool;
  shut : bool Atomic.t;  (** Set by the first [close]. *)
  is_closing : unit -> bool;
}

let create ?(standard = false) direction fd =
  let owner, kind =
    if not standard then begin
      let owner, kind = Io.find "channel" fd in
      Owner.attach owner;
      (Some (owner, kind), kind)
    end
    else
      match Io.with_owner "channel" fd (fun _ kind -> kind) with
      | kind -> (None, kind)
      | exception Unix.Unix_error _ -> (None, Shared)
  in
  let shut = Atomic.make false in
  let is_closing () = Atomic.get shut in
  { fd; owner; direction; is_file = kind = File; shut; is_closing }

let is_file t = t.is_file
let descr t = t.fd
let is_closed t = Atomic.get t.shut

let with_owner name t f =
  match t.owner with
  | Some (owner, kind) -> f owner kind
  | None -> Io.with_owner name t.fd f

let using name t f = with_owner name t (fun owner _ -> Owner.using name owner f)

let read t b pos len =
  with_owner "read" t (fun owner kind ->
      Io.read ~is_closing:t.is_closing owner kind b pos len)

let write t b pos len =
  with_owner "write" t (fun owner kind ->
      Io.write ~is_closing:t.is_closing owner kind b pos len)

let position t =
  match using "lseek" t (fun () -> Unix.lseek t.fd 0 SEEK_CUR) with
  | position -> Some position
  | exception Unix.Unix_error _ -> None

let seek t position =
  using "lseek" t (fun () -> ignore (Unix.lseek t.fd position SEEK_SET : int))

(* A regular file says it without being sought in: another channel may be reading. One of
   /proc says 0, although it has bytes. *)
let length t =
  using "lseek" t @@ fun () ->
  let here = Unix.lseek t.fd 0 SEEK_CUR in
  match Unix.LargeFile.fstat t.fd with
  | { st_kind = S_REG; st_size; _ } when st_size > 0L -> Int64.to_int st_size
  | _ ->
      let length = Unix.lseek t.fd 0 SEEK_END in
      ignore (Unix.lseek t.fd here SEEK_SET : int);
      length

(* A standard descriptor is closed whoever else has it. *)
let close t =
  if not (Atomic.exchange t.shut true) then
    match t.owner with
    | None -> Descriptor.close t.fd
    | Some (owner, _) ->
        Owner.rouse owner t.direction;
        Fun.protect ~finally:(fun () -> Owner.leave owner) @@ fun () ->
        if Owner.detach owner then ignore (Io.close owner : bool)
