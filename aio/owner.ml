module Promise = Concord.Promise
module Atomically = Concord.Private.Atomically

(* [state] is twice the number of uses, plus [reference] for each reference, plus one if the
   owner is closing.

   State          To                   By whom
   s, even        s + reference        [find]
   s              s - reference        [leave]. If 0 is left, it lets the owner go
   s, even        s + 2                [using] and [watch] when they begin
   s              s - 2                the same when they end. If 0 is left, they let the owner
                                       go. If it is closing and no use is left, they finish
   s, even        s + 1                the one [close] or [abandon] that has set [closing]. If
                                       there is no use, it finishes, else it calls the watchers
   0              gone                 the thread that lets it go, which then removes the owner
                                       from the table
   gone (odd)     (never)

   A closing owner gets no new uses. So exactly one thread finds, once, that no use is left,
   and that thread finishes. [using] and [watch] need a reference or a use, so that the owner
   is not gone meanwhile.

   [closing] is [None], or the record of the one call that closes. Each of the [watchers] has
   one use. A watcher is added before it checks whether the owner is closing. The call that
   closes reads the watchers after it has marked the owner. So one of the two sees the other.

   A signal handler may raise anywhere, except between a change of [state] and its consequence.
   Either there is no polling point in between, or [Ensure.completed] does the rest. *)
type t = {
  fd : Unix.file_descr;
  state : int Atomic.t;
  closing : closing option Atomic.t;
  watchers : watcher list Atomic.t;
  channels : int Atomic.t;
  identity : int Atomic.t;  (** All threads that use it write the same. *)
  generation : int;  (** The process that made it, see [Native]. *)
}

(* The thread that closes writes the fields first, and then the thread that finishes. *)
and closing = {
  closed : exn option Promise.t;
  abandoned : bool;
  mutable uses_then : int;
      (** How many uses there were when it began to close, or -1 before. *)
  mutable given_back : bool;
  mutable error : exn option;  (** The exception of [Unix.close]. *)
}

and watcher = { forget : t -> unit }

let reference = 1 lsl 32
let gone = -1
let uses state = (state land (reference - 1)) lsr 1

let create fd =
  {
    fd;
    state = Atomic.make reference;
    closing = Atomic.make None;
    watchers = Atomic.make [];
    channels = Atomic.make 0;
    identity = Atomic.make (-1);
    generation = Native.generation ();
  }

let descr t = t.fd
let closing t = Option.get (Atomic.get t.closing)
let is_closing t = Atomic.get t.state land 1 = 1
let identity t = t.identity

(* In a child process, uses by the parent's other threads never end. *)
let is_inherited t = t.generation <> Native.generation ()

(* --- The table ------------------------------------------------------------ *)

(* [table] has a cell for each number up to some number. A larger table has the same cells as
   the one before.

   A cell     Left by           To      By whom
   None       find              Some t  any thread, with a new [t]
   Some t     removal           None    the thread that let [t] go, closed it or abandoned it,
                                        or any thread that finds it gone *)
let table : t option Atomic.t array Atomic.t = Atomic.make [||]
let int_of_fd : Unix.file_descr -> int = Iomux.Util.fd_of_unix

let rec cell n =
  let cells = Atomic.get table in
  if n < Array.length cells then cells.(n)
  else begin
    let more i =
      if i < Array.length cells then cells.(i) else Atomic.make None
    in
    let larger = Array.init (Int.max 64 (2 * n)) more in
    ignore (Atomic.compare_and_set table cells larger : bool);
    cell n
  end

let remove t =
  let cell = cell (int_of_fd t.fd) in
  match Atomic.get cell with
  | Some other as before when other == t ->
      (* If this fails, another thread has removed it. *)
      ignore (Atomic.compare_and_set cell before None : bool)
  | Some _ | None -> ()

let let_go t = if Atomic.compare_and_set t.state 0 gone then remove t
let bad_descriptor name = Unix.Unix_error (EBADF, name, "")

let rec find ~wait name fd =
  let n = int_of_fd fd in
  if n < 0 then raise (bad_descriptor name);
  let cell = cell n in
  match Atomic.get cell with
  | None as before ->
      let t = create fd in
      if Atomic.compare_and_set cell before (Some t) then t
      else
        (* Another thread has installed an owner. *)
        find ~wait name fd
  | Some t ->
      let state = Atomic.get t.state in
      if state = gone then begin
        remove t;
        find ~wait name fd
      end
      else if state land 1 = 0 then
        if Atomic.compare_and_set t.state state (state + reference) then t
        else find ~wait name fd
      else if uses state > 0 then raise (bad_descriptor name)
      else if is_inherited t then begin
        (* A thread of the parent was closing it. It doesn't exist in this process. *)
        remove t;
        find ~wait name fd
      end
      else begin
        wait (closing t).closed;
        find ~wait name fd
      end

let refer t = ignore (Atomic.fetch_and_add t.state reference : int)

let leave t =
  if Atomic.fetch_and_add t.state (-reference) = reference then let_go t

(* --- The end -------------------------------------------------------------- *)

(* Linux has closed the descriptor even if the error is [EINTR]. *)
let give_back t closing =
  begin match Unix.close t.fd with
  | () | (exception Unix.Unix_error (EINTR, _, _)) -> ()
  | exception (Unix.Unix_error _ as e) -> closing.error <- Some e
  end;
  closing.given_back <- true

(* The promise is filled last. Then this owner has left the table, even if another file has got
   the number since. *)
let finish t =
  let closing = closing t in
  if not (closing.abandoned || closing.given_back) then give_back t closing;
  remove t;
  ignore (Promise.try_fill closing.closed closing.error : bool)

(* An abandoned owner is removed from the table before it is marked as closing, because its
   number already belongs to another file. *)
let finish_or_tell t =
  let closing = closing t in
  if closing.abandoned then remove t;
  if closing.uses_then < 0 then
    closing.uses_then <- uses (Atomic.fetch_and_add t.state 1);
  if closing.uses_then = 0 || is_inherited t then finish t
  else List.iter (fun { forget } -> forget t) (Atomic.get t.watchers)

(* The result is [None] if it was closing already. *)
let begin_to_close t ~abandoned =
  let closed = Promise.create ~name:"a descriptor that is closed" () in
  let closing =
    { closed; abandoned; uses_then = -1; given_back = false; error = None }
  in
  if Atomic.compare_and_set t.closing None (Some closing) then begin
    Ensure.completed finish_or_tell t;
    Some closed
  end
  else None

let close t = begin_to_close t ~abandoned:false
let abandon t = ignore (begin_to_close t ~abandoned:true : _ option)

(* --- Uses ----------------------------------------------------------------- *)

let rec try_use t =
  let state = Atomic.get t.state in
  if state land 1 = 1 then false
  else if Atomic.compare_and_set t.state state (state + 2) then true
  else
    (* Another use or reference began or ended, or it is closing now. *)
    try_use t

let end_use t =
  let state = Atomic.fetch_and_add t.state (-2) in
  if state = 2 then let_go t
  else if state land 1 = 1 && uses state = 1 then begin
    Ensure.completed finish t;
    (* This [()] avoids a tail call. A function that ends by a tail call of an unknown function
       has a polling point at its beginning. *)
    ()
  end

let using name t f =
  if not (try_use t) then raise (bad_descriptor name);
  Ensure.finally end_use t f ()

let watches t watcher = List.memq watcher (Atomic.get t.watchers)

(* If a signal handler raises in the update, nothing has changed, and [Ensure.completed] calls it
   again. *)
let unwatch t watcher =
  let try_unwatch t =
    if watches t watcher then begin
      Atomically.update t.watchers (List.filter (( != ) watcher));
      end_use t
    end
  in
  Ensure.completed try_unwatch t

let watch t watcher =
  (* Allocated before the use begins, because a signal handler may raise in an allocation. *)
  let add = List.cons watcher in
  if watches t watcher then not (is_closing t)
  else
    try_use t
    && begin
      Atomically.update_surely t.watchers add;
      (not (is_closing t))
      || begin
        unwatch t watcher;
        false
      end
    end

(* --- Channels ------------------------------------------------------------- *)

let channels t = t.channels
