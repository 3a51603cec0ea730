open Concord.Tools
module Who = Host_kit.Who

(* Only the thread that runs the loop uses these fields, except [in_block]. *)
type 'p task = {
  home : 'p scope;
  mutable priority : 'p;
  mutable turn : unit -> unit;
      (** The last turn for which it became ready. If the turn has begun, a
          second call does nothing. *)
  mutable give_up : unit -> unit;
      (** Ends the last wait, unless it was resumed. *)
  in_block : bool Atomic.t;
      (** [true] while it calls [block]. A resumption then counts as a yield. *)
  mutable shields : int;
  mutable cancelled : bool;
  mutable ended : bool;
  mutable scopes : 'p scope list;
      (** The scopes that it has opened, the innermost first. *)
  mutable who : Who.t option;
}

and 'p scope = {
  around : 'p scope option;  (** [None] for the scope of the first task. *)
  owner : 'p task option;  (** [None] for the scope of the first task. *)
  depth : int;
  mutable in_body : bool;  (** [true] until the owner has run the body. *)
  mutable members : 'p task list;  (** Some of them may have ended. *)
  mutable listed : int;  (** The length of [members]. *)
  mutable live : int;  (** How many members have not ended. *)
  mutable on_end : unit Suspend.resumer option;
  mutable stopped : bool;
}

let create_task home priority =
  {
    home;
    priority;
    turn = ignore;
    give_up = ignore;
    in_block = Atomic.make false;
    shields = 0;
    cancelled = home.stopped;
    ended = false;
    scopes = [];
    who = None;
  }

let create_scope ~around ~owner ~depth =
  {
    around;
    owner;
    depth;
    in_body = true;
    members = [];
    listed = 0;
    live = 0;
    on_end = None;
    stopped = false;
  }

let innermost task =
  match task.scopes with scope :: _ -> scope | [] -> task.home

let rec is_within scope other =
  other == scope
  ||
  match other.around with
  | Some around -> is_within scope around
  | None -> false

let is_cancelled task =
  (task.cancelled && task.shields = 0)
  || List.exists
       (fun scope ->
         scope.stopped && scope.in_body && scope.depth = task.shields)
       task.scopes

let give_up task ~depth = if task.shields = depth then task.give_up ()

let rec cancel scope =
  if not scope.stopped then begin
    scope.stopped <- true;
    List.iter cancel_task scope.members;
    if scope.in_body then Option.iter (give_up ~depth:scope.depth) scope.owner
  end

and cancel_task task =
  task.cancelled <- true;
  List.iter (fun scope -> if scope.depth = 0 then cancel scope) task.scopes;
  give_up task ~depth:0

let rec iter f scope =
  let visit task =
    if not task.ended then begin
      f task;
      List.iter (iter f) task.scopes
    end
  in
  List.iter visit scope.members

(* Tasks that have ended are removed when they are the majority, so adding is amortised O(1). *)
let add_member scope task =
  if scope.listed > (2 * scope.live) + 8 then begin
    scope.members <- List.filter (fun task -> not task.ended) scope.members;
    scope.listed <- List.length scope.members
  end;
  let members = task :: scope.members in
  scope.members <- members;
  scope.listed <- scope.listed + 1;
  scope.live <- scope.live + 1

(* If a signal handler raises in it, it is called again, so it may run twice. *)
let end_task task =
  let home = task.home in
  if not task.ended then begin
    task.ended <- true;
    home.live <- home.live - 1
  end;
  if home.live = 0 then begin
    Option.iter (fun resumer -> ignore (resumer (Ok ()) : bool)) home.on_end;
    home.on_end <- None
  end
