module Promise = Concord.Promise
module Structure_kit = Concord.Tools.Structure_kit

(* [state]: twice the number of uses, plus [reference] for each reference, plus one if it is
   closing.

   Left by        To                   By whom
   s, even        s + reference        [find]
   s              s - reference        [leave]; if 0 is left, it lets the owner go
   s, even        s + 2                [using] and [watch] when they begin
   s              s - 2                the same when they end; if 0 is left, they let the owner
                                       go; if it is closing and no use is left, they close
   s, even        s + 1                the one [close] or [abandon] that has set [closed]; if
                                       there is no use, it closes, else it tells the watchers
   0              gone                 whoever let it go; it removes the owner from the table
   gone, odd      (never)

   A closing owner has no new uses. So one thread comes to no use, once, and closes. [using]
   and [watch] need a reference, or a use, so that the owner is not gone meanwhile.

   [closed]: None, or the promise of the one who closes; [watchers]: those of whom each has
   one use. A watcher is added before it looks whether the owner is closing, and whoever
   closes looks for watchers after that: so one of the two sees the other. *)
type t = {
  fd : Unix.file_descr;
  state : int Atomic.t;
  closed : exn option Promise.t option Atomic.t;
  watchers : watcher list Atomic.t;
  channels : int Atomic.t;
  identity : int Atomic.t;  (** All threads that use it write the same. *)
  generation : int;  (** Of processes. *)
  mutable abandoned : bool;  (** Written before it is closing. *)
}

and watcher = { forget : t -> unit; rouse : t -> direction -> unit }
and direction = Read | Write

let reference = 1 lsl 32
let gone = -1
let uses state = (state land (reference - 1)) lsr 1

let create fd =
  {
    fd;
    state = Atomic.make reference;
    closed = Atomic.make None;
    watchers = Atomic.make [];
    channels = Atomic.make 0;
    identity = Atomic.make (-1);
    generation = Native.generation ();
    abandoned = false;
  }

let descr t = t.fd
let is_closing t = Atomic.get t.state land 1 = 1
let identity t = Atomic.get t.identity
let set_identity t identity = Atomic.set t.identity identity

(* --- The table ------------------------------------------------------------ *)

(* [table]: a cell for each number up to some number; the cells of a smaller table are in the
   larger one too.

   A cell     Left by           To      By whom
   None       find              Some t  any thread, with a new [t]
   Some t     removal           None    whoever let [t] go, closed it or abandoned it; also
                                        any thread that finds it gone *)
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
      (* if this fails, another thread has removed it *)
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
      else (* another thread found it first *) find ~wait name fd
  | Some t -> (
      let state = Atomic.get t.state in
      if state = gone then begin
        remove t;
        find ~wait name fd
      end
      else if state land 1 = 0 then
        if Atomic.compare_and_set t.state state (state + reference) then t
        else find ~wait name fd
      else if uses state > 0 then raise (bad_descriptor name)
      else
        match Atomic.get t.closed with
        | Some closed ->
            wait closed;
            find ~wait name fd
        | None -> assert false (* it is set before the owner is closing *))

let refer t = ignore (Atomic.fetch_and_add t.state reference : int)

let leave t =
  if Atomic.fetch_and_add t.state (-reference) = reference then let_go t

(* --- The end -------------------------------------------------------------- *)

(* Linux has closed it also if it says [EINTR]. The promise is filled last: then the number
   has no owner, whoever has got it from the system since. *)
let finish t closed =
  let error =
    if t.abandoned then None
    else
      match Unix.close t.fd with
      | () | (exception Unix.Unix_error (EINTR, _, _)) -> None
      | exception e -> Some e
  in
  remove t;
  ignore (Promise.try_fill closed error : bool)

(* In a child process those uses never end that are of the parent's other threads. *)
let is_inherited t = t.generation <> Native.generation ()

(* Calls what tells them, unless it was closing already. *)
let begin_to_close t ~abandoned =
  let closed = Promise.create ~name:"a descriptor that is closed" () in
  if Atomic.compare_and_set t.closed None (Some closed) then begin
    t.abandoned <- abandoned;
    if abandoned then remove t;
    if uses (Atomic.fetch_and_add t.state 1) = 0 || is_inherited t then
      finish t closed
    else List.iter (fun { forget; _ } -> forget t) (Atomic.get t.watchers);
    Some closed
  end
  else None

let close t = begin_to_close t ~abandoned:false
let abandon t = ignore (begin_to_close t ~abandoned:true : _ option)

(* --- What is in flight ---------------------------------------------------- *)

let rec try_use t =
  let state = Atomic.get t.state in
  if state land 1 = 1 then false
  else if Atomic.compare_and_set t.state state (state + 2) then true
  else (* another use or reference began or ended, or it is closing *) try_use t

let end_use t =
  let state = Atomic.fetch_and_add t.state (-2) in
  if state = 2 then let_go t
  else if state land 1 = 1 && uses state = 1 then
    match Atomic.get t.closed with
    | Some closed -> if Promise.peek closed = None then finish t closed
    | None -> assert false (* as in [find] *)

let rouse t direction =
  List.iter (fun { rouse; _ } -> rouse t direction) (Atomic.get t.watchers)

(* No polling point comes between a use and the handler that ends it. *)
let using name t f =
  if not (try_use t) then raise (bad_descriptor name);
  match f () with
  | v ->
      end_use t;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      end_use t;
      Printexc.raise_with_backtrace e backtrace

let rec without watcher = function
  | [] -> []
  | first :: rest when first == watcher -> rest
  | first :: rest -> first :: without watcher rest

let unwatch t watcher =
  Structure_kit.update t.watchers (without watcher);
  end_use t

let watch t watcher =
  try_use t
  && begin
    Structure_kit.update t.watchers (List.cons watcher);
    (not (is_closing t))
    || begin
      unwatch t watcher;
      false
    end
  end

(* --- Channels ------------------------------------------------------------- *)

let attach t = ignore (Atomic.fetch_and_add t.channels 1 : int)
let detach t = Atomic.fetch_and_add t.channels (-1) = 1
