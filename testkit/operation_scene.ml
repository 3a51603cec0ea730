open Concord
open Operation_signature
module Hand = Operation_hand

type way = {
  title : string;
  through : (int -> int) -> (int -> int Event.t) option -> int -> int;
}

let direct = { title = ""; through = (fun wait _ -> wait) }

let by_event title f =
  { title; through = (fun _ event number -> f ((Option.get event) number)) }

let ways (module O : OPERATION) =
  if Option.is_none O.event then [ direct ]
  else
    [
      direct;
      by_event ", its event" Event.sync;
      by_event ", in a choice" (fun e -> Event.select [ e; Event.never ]);
    ]

type t = {
  service : service;
  keeps : bool;
  in_order : bool;
  interruptible : bool;
  repeats : bool;
  most : int;
  hand : Hand.t;
  wait : int -> int;
  event : (int -> int Event.t) option;
  release_event : (int -> int Event.t) option;
  close : (exn * (unit -> unit)) option;
  fail : (exn -> Printexc.raw_backtrace -> unit) option;
  count : (unit -> int) option;
  release_with : int -> int;
  waiters : int Atomic.t;
  releases : int Atomic.t;
  released : int Atomic.t;
  served : int list Atomic.t;
  brought : int list Atomic.t;
  got : int list Atomic.t;
  mutable pending : unit Hand.task list;
  fresh : unit -> t;
}

let rec create ?(most = 10) ((module O : OPERATION) as operation) way =
  let t = O.create most in
  let event = Option.map (fun event -> event t) O.event in
  {
    service = O.service;
    keeps = O.keeps;
    in_order = O.in_order;
    interruptible = O.interruptible;
    repeats = O.repeats;
    most;
    hand = Hand.create ();
    wait = way.through (O.wait t) event;
    event;
    release_event = Option.map (fun event -> event t) O.release_event;
    close = Option.map (fun (e, close) -> (e, fun () -> close t)) O.close;
    fail = Option.map (fun fail -> fail t) O.fail;
    count = Option.map (fun waiters () -> waiters t) O.waiters;
    release_with = O.release t;
    waiters = Atomic.make 0;
    releases = Atomic.make 0;
    released = Atomic.make 0;
    served = Atomic.make [];
    brought = Atomic.make [];
    got = Atomic.make [];
    pending = [];
    fresh = (fun () -> create ~most operation way);
  }

let elsewhere s = { s with hand = Hand.create (); pending = [] }

let one_by_one s =
  match s.service with
  | Signals | Takes | Gives | Trades -> true
  | Shares | Passes | Meets -> false

(* --- On any host ------------------------------------------------------------- *)

let other = -1

let rec note list number =
  let before = Atomic.get list in
  if not (Atomic.compare_and_set list before (number :: before)) then
    note list number

let note_unless_nothing list number = if number <> 0 then note list number

let waiters_bring s =
  match s.service with
  | Gives | Trades | Passes -> true
  | Signals | Takes | Shares | Meets -> false

let releases_bring s =
  match s.service with
  | Takes | Trades | Passes | Shares -> true
  | Signals | Gives | Meets -> false

(* The task does not suspend between [wait] and the notes, so it can't be cancelled between
   them. *)
let wait_as ?wait s number =
  let wait = Option.value wait ~default:s.wait in
  let got = wait number in
  if got <> other then begin
    if waiters_bring s then note s.brought number;
    note_unless_nothing s.got got;
    note s.served number
  end

let next counter = 1 + Atomic.fetch_and_add counter 1
let wait ?wait s = wait_as ?wait s (next s.waiters)

(* Releases have large numbers, so they differ from those of waiting tasks. *)
let number_of_release n = 1_000_000 + n

let note_release s number got =
  if got <> number then begin
    if releases_bring s then note s.brought number;
    note_unless_nothing s.got got;
    Atomic.incr s.released
  end

let release s =
  let number = number_of_release (next s.releases) in
  note_release s number (s.release_with number)

let either s choose number =
  let mine = number_of_release (next s.releases) in
  let note got =
    note_release s mine got;
    other
  in
  choose number (Event.wrap ((Option.get s.release_event) mine) note)

(* --- By hand ----------------------------------------------------------------- *)

type waiter = { number : int; task : unit Hand.task }

let start ?hooks ?cancelled ?wait s =
  let number = next s.waiters in
  let task =
    Hand.start ?hooks ?cancelled s.hand (fun () -> wait_as ?wait s number)
  in
  { number; task }

let start_many s n = List.init n (fun _ -> start s)
let waits w = Hand.outcome w.task = Waits
let has_returned w = Hand.outcome w.task = Returned ()

let returned w =
  match Hand.outcome w.task with
  | Returned () -> ()
  | Waits ->
      Trial.fail
        "task %d still waits, but a release should have let it continue"
        w.number
  | Raised (e, _) ->
      Trial.fail "task %d raised %s, but it should return" w.number
        (Printexc.to_string e)

let same_exception a b =
  a == b || try compare a b = 0 with Invalid_argument _ -> false

let left w =
  match Hand.outcome w.task with
  | Raised _ -> ()
  | Waits -> Trial.fail "task %d still waits, but it should raise" w.number
  | Returned () -> Trial.fail "task %d returned, but it should raise" w.number

let raised exn w =
  left w;
  match Hand.outcome w.task with
  | Raised (e, _) when not (same_exception e exn) ->
      Trial.fail "task %d should raise %s, but it raised %s" w.number
        (Printexc.to_string exn) (Printexc.to_string e)
  | _ -> ()

let cancel ?by w =
  if not (Hand.cancel ?by w.task) then
    Trial.fail "task %d was resumed before any release" w.number

let release_by_hand s =
  s.pending <- Hand.start s.hand (fun () -> release s) :: s.pending

let settle s =
  Hand.settle s.hand;
  let pending = s.pending in
  s.pending <- [];
  List.iter (fun task -> ignore (Hand.cancel task : bool)) pending;
  Hand.settle s.hand;
  let ended task =
    match Hand.outcome task with
    | Hand.Returned () | Raised (Hand.Cancelled, _) -> ()
    | Raised (e, _) ->
        Trial.fail "a release raised %s, but it should return"
          (Printexc.to_string e)
    | Waits -> Trial.fail "a release still waits, although it was cancelled"
  in
  List.iter ended pending

let let_go ?(settled = true) s n =
  let times =
    match s.service with
    | Signals | Takes | Gives | Trades -> n
    | Shares | Passes -> 1
    | Meets -> s.most + 1 - n
  in
  for _ = 1 to times do
    release_by_hand s;
    if settled && s.service <> Meets then settle s
  done;
  settle s

(* --- For cases ----------------------------------------------------------------- *)

type case = string * (t -> unit)

let only_if condition why = if not condition then raise (Trial.Not_offered why)

let once f =
  let first = Atomic.make true in
  fun () -> if Atomic.exchange first false then f ()

let may_be_interrupted s =
  only_if s.interruptible "it does not promise this ([interruptible] is false)"

let start_some_interrupted s =
  let raises =
    { Hand.no_hooks with resumed = (fun () -> raise Hand.Interrupt) }
  in
  List.init 5 (fun i ->
      if i = 1 || i = 3 then start ~hooks:raises s else start s)

let raises_interrupt what f =
  match f () with
  | () ->
      Trial.fail
        "%s returned, but it should raise the signal handler's exception" what
  | exception Hand.Interrupt -> ()
  | exception e ->
      Trial.fail "%s raised %s, not the exception of the signal handler" what
        (Printexc.to_string e)

let release_first s =
  { Hand.no_hooks with performs = once (fun () -> release_by_hand s) }

let but_for k list = List.filteri (fun i _ -> i <> k) list

let each_of_three title f =
  List.mapi
    (fun k which -> (Printf.sprintf title which, f k))
    [ "first"; "second"; "last" ]
