(* --- What is on ------------------------------------------------------------------ *)

(* One word, so that what each suspension reads is right after each change. *)
type what = int

let labels = 1
let strict = 2
let leaks = 4
let waits = 8
let trace = 16
let takers = 32
let metrics = 64

(* In the order of their bits. *)
let all =
  [ "labels"; "strict"; "leaks"; "waits"; "trace"; "takers"; "metrics" ]
  |> List.mapi (fun i name -> (name, 1 lsl i))

let on = Atomic.make 0
let start what = Atomically.update on (fun before -> before lor what)
let stop what = Atomically.update on (fun before -> before land lnot what)
let[@inline] is what = Atomic.get on land what <> 0
let[@inline] finds_leaks () = Atomic.get on land leaks <> 0
let[@inline] are_kept () = Atomic.get on land waits <> 0
let[@inline] is_traced () = Atomic.get on land trace <> 0
let[@inline] measures () = is metrics
let[@inline] are_waits_told () = is (waits lor trace lor metrics)
let[@inline] are_holders_told () = is (waits lor metrics)
let[@inline] are_labelled () = Atomic.get on land labels <> 0
let[@inline] looks_at_takers () = is (waits lor metrics lor strict)
let[@inline] takes_slow_path () = Atomic.get on > labels lor strict

(* --- Who is told ----------------------------------------------------------------- *)

type 'a resumer = 'a Concord_suspend.resumer
type 'a block = 'a resumer -> 'a option

type figure =
  | Length of int
  | Capacity of int
  | Used of int
  | Limit of int
  | Busy_ns of int

type t = {
  made :
    's.
    kind:string option ->
    name:string option ->
    holders:(unit -> Holder.t list) option ->
    figures:('s -> figure list) option ->
    's ->
    unit;
  ends_waits :
    's. is_over:(unit -> bool) -> (unit -> Holder.t list) -> 's -> unit;
  part : 'whole 'part. waited_in:bool -> 'whole -> 'part -> unit;
  raises : 's. exn -> 's -> unit;
  wait : 'a. Target.t list -> ('a block -> 'a) -> 'a block -> 'a;
  sleep : 'a. Target.t -> ('a block -> 'a) -> 'a block -> 'a;
  operation :
    'a. host:string -> Target.t -> 'a block -> 'a block * (exn option -> unit);
  task : unit -> Who.t;
  waker : unit -> Who.t;
  caller : unit -> Holder.t;
  before_wait : unit -> unit;
  within : 'a. (Holder.t -> 'a) -> 'a;
  before_lock :
    's. 's -> Holder.t -> Holder.t -> still_holds:(Holder.t -> bool) -> unit;
  before_unlock : 's. 's -> Holder.t -> unit;
  gave_back : 's. kind:string -> 's -> Holder.t -> unit;
  began : 'a. Who.origin -> ask:(unit -> Who.t) -> (unit -> 'a) -> 'a;
  origin : Who.t -> Who.origin -> unit;
  queue : 'a. string -> int -> 'a block -> unit;
  guard : 'a. (unit -> Printexc.raw_backtrace) -> 'a resumer -> 'a resumer;
  lost : (int -> Printexc.raw_backtrace) -> unit;
  collect : unit -> unit;
  parks : unit -> unit;
}

let unknown () = Who.unknown ""

let nobody =
  {
    made = (fun ~kind:_ ~name:_ ~holders:_ ~figures:_ _ -> ());
    ends_waits = (fun ~is_over:_ _ _ -> ());
    part = (fun ~waited_in:_ _ _ -> ());
    raises = (fun _ _ -> ());
    wait = (fun _ suspend block -> suspend block);
    sleep = (fun _ suspend block -> suspend block);
    operation = (fun ~host:_ _ block -> (block, ignore));
    task = unknown;
    waker = unknown;
    caller = (fun () -> Holder.held (unknown ()));
    before_wait = ignore;
    within = (fun f -> f (Holder.held (unknown ())));
    before_lock = (fun _ _ _ ~still_holds:_ -> ());
    before_unlock = (fun _ _ -> ());
    gave_back = (fun ~kind:_ _ _ -> ());
    began = (fun _ ~ask:_ f -> f ());
    origin = (fun _ _ -> ());
    queue = (fun _ _ _ -> ());
    guard = (fun _ resumer -> resumer);
    lost = ignore;
    collect = ignore;
    parks = ignore;
  }

let it = ref nobody
let install t = it := t

exception Nudged

(* --- Structures ------------------------------------------------------------------- *)

let[@inline never] tell_made kind name holders figures structure =
  !it.made ~kind ~name ~holders ~figures structure;
  structure

let[@inline] made ?kind ?name ?holders ?figures structure =
  match name with
  | None when not (are_holders_told ()) -> structure
  | name -> tell_made kind name holders figures structure

let[@inline never] tell_part ~waited_in whole part =
  !it.part ~waited_in whole part;
  part

let[@inline] derived ~from part =
  if are_labelled () then tell_part ~waited_in:false from part else part

let[@inline] waited_in ~from part =
  if are_kept () then tell_part ~waited_in:true from part else part

let[@inline never] tell_raises e structure = !it.raises e structure

let[@inline] raises e structure =
  if are_labelled () then tell_raises e structure

let operation ~host target block = !it.operation ~host target block
let not_by_a_structure = ref ()
let[@inline] raises_unknown e = raises e not_by_a_structure

(* --- Tasks ------------------------------------------------------------------------- *)

type found = Identity.pointer * Holder.t

let finders : (unit -> found list) list Atomic.t = Atomic.make []
let add_finder finder = Atomically.update finders (List.cons finder)
let find () = List.concat_map (fun find -> find ()) (Atomic.get finders)
