(** What the core tells of waits, structures and tasks, and to whom.

    The core knows neither reports nor traces. It reads one word, {!on}, whose
    bits say what is observed. Only if a bit is set does it call a function of
    the {!t} that was installed. The library [concord.diagnosis] installs one
    while the program is initialised.

    Unless a function says otherwise, it doesn't suspend, and is safe from any
    domain and thread. *)

(** {2 What is on} *)

type what = private int
(** A bit of {!on}. The bits come and go independently of each other. *)

val leaks : what
(** The program looks for leaks. *)

val waits : what
(** Waits are kept. *)

val trace : what
(** The program is traced. *)

val takers : what
(** There is a scheduler that takes every effect. *)

val strict : what
(** A task that may wait for a holder is asked whether it can wait. *)

val labels : what
(** There has been a structure with a name, or with a place where it was made.
*)

val metrics : what
(** Waits, holders and workers are measured. *)

val all : (string * what) list
(** All of them, with their names. *)

val on : int Atomic.t
(** The bits that are set. *)

val start : what -> unit
val stop : what -> unit

val is : what -> bool
(** {b Cost} of this and the next nine: one read. They are unbroken. *)

val finds_leaks : unit -> bool
val are_kept : unit -> bool
val is_traced : unit -> bool
val are_labelled : unit -> bool
val measures : unit -> bool

val are_waits_told : unit -> bool
(** [true] if waits are kept, traced or measured. *)

val are_holders_told : unit -> bool
(** [true] if waits are kept or holders are measured. *)

val looks_at_takers : unit -> bool
(** [true] if {!are_holders_told} or {!strict}. *)

val takes_slow_path : unit -> bool
(** [true] if any bit but {!labels} and {!strict}, the lowest ones, is set. Then
    each wait looks at all of them. *)

(** {2 Who is told} *)

type 'a resumer = 'a Concord_suspend.resumer
type 'a block = 'a resumer -> 'a option

(** What a structure can say of itself at any moment, even if no task waits in
    it. *)
type figure =
  | Length of int  (** The number of items, or of jobs that wait. *)
  | Capacity of int  (** The limit of [Length]. *)
  | Used of int  (** How many resources, permits or workers are in use. *)
  | Limit of int  (** The limit of [Used]. *)
  | Busy_ns of int
      (** For how long workers have worked. It counts while {!measures}. *)

type t = {
  made :
    's.
    kind:string option ->
    name:string option ->
    holders:(unit -> Holder.t list) option ->
    figures:('s -> figure list) option ->
    's ->
    unit;
      (** See {!val-made}. *)
  ends_waits :
    's. is_over:(unit -> bool) -> (unit -> Holder.t list) -> 's -> unit;
      (** These tasks end the waits in a structure, until [is_over ()]. *)
  part : 'whole 'part. waited_in:bool -> 'whole -> 'part -> unit;
      (** See {!derived} and {!waited_in}. *)
  raises : 's. exn -> 's -> unit;  (** See {!val-raises}. *)
  wait : 'a. Target.t list -> ('a block -> 'a) -> 'a block -> 'a;
      (** [wait targets suspend block] is [suspend block], the wait of a task.
      *)
  sleep : 'a. Target.t -> ('a block -> 'a) -> 'a block -> 'a;
      (** The same for a loop that sleeps. *)
  operation :
    'a. host:string -> Target.t -> 'a block -> 'a block * (exn option -> unit);
      (** For an operation of the indirect styles, which has no stack while it
          waits. The second function is called when it has ended, with its
          exception if it failed. That may be its host's cancellation. *)
  task : unit -> Who.t;
      (** The calling task, as its host knows it. It may suspend. *)
  waker : unit -> Who.t;
      (** The calling task, or its thread if that calls for no task. It never
          suspends, so it knows less about tasks than [task]. *)
  caller : unit -> Holder.t;  (** See {!Holders.caller}. *)
  before_wait : unit -> unit;
      (** Called before a task may wait for a holder. It may suspend, and may
          raise. *)
  within : 'a. (Holder.t -> 'a) -> 'a;  (** See {!Holders.within}. *)
  before_lock :
    's. 's -> Holder.t -> Holder.t -> still_holds:(Holder.t -> bool) -> unit;
      (** See {!Holders.before_lock}. *)
  before_unlock : 's. 's -> Holder.t -> unit;
      (** See {!Holders.before_unlock}. *)
  gave_back : 's. kind:string -> 's -> Holder.t -> unit;
      (** See {!Holders.gives_back}. It doesn't raise. *)
  began : 'a. Who.origin -> ask:(unit -> Who.t) -> (unit -> 'a) -> 'a;
      (** See {!Forks.run}. *)
  origin : Who.t -> Who.origin -> unit;  (** The task was forked there. *)
  queue : 'a. string -> int -> 'a block -> unit;
      (** The length of a scheduler's queue when a task suspends by this block.
      *)
  guard : 'a. (unit -> Printexc.raw_backtrace) -> 'a resumer -> 'a resumer;
      (** See {!Leaks.guard}. *)
  lost : (int -> Printexc.raw_backtrace) -> unit;
      (** A task can't be resumed any more. The argument returns so many of its
          frames. *)
  collect : unit -> unit;  (** See {!Leaks.collect}. *)
  parks : unit -> unit;
      (** Called before a thread is parked, whether anything is on or not. *)
}

val nobody : t
(** It does nothing. *)

val it : t ref
(** The one that is told. *)

val install : t -> unit
(** Call it only while the library is initialised, before any domain exists. *)

(** {2 Exceptions} *)

exception Nudged
(** For a wait that ends so that the task tries again. It counts as returned. *)

(** {2 Structures} *)

val made :
  ?kind:string ->
  ?name:string ->
  ?holders:(unit -> Holder.t list) ->
  ?figures:('structure -> figure list) ->
  'structure ->
  'structure
(** The function that makes a structure calls this, and returns the structure.
    The name is noted, and while {!are_kept} the frames of the caller.
    [figures structure] may be called at any moment, in any thread. It must not
    suspend, and should take O(1), or O(n) for [n] waiters. [kind] is the name
    of such structures, for example ["stream"]. [holders ()] are the tasks that
    can end a wait there, if they are known. {b Cost} without a name, and while
    waits are neither kept nor measured: one read. *)

val derived : from:'structure -> 'part -> 'part
(** [derived ~from part] gives [part] the name of the structure that it belongs
    to, and returns it. {b Cost}: one read if there is no label. *)

val waited_in : from:'structure -> 'part -> 'part
(** {!derived} for a part that is made for one wait, and refers to the
    structure. {b Cost}: one read while waits are not kept. *)

val raises : exn -> 'structure -> unit
(** Call it before an operation on the structure raises an exception. The
    printer of exceptions then names the structure. {b Cost}: one read if there
    is no label. *)

val raises_unknown : exn -> unit
(** The same if the structure is not known any more, so that no other one is
    named instead. *)

val operation :
  host:string -> Target.t -> 'a block -> 'a block * (exn option -> unit)
(** It tells of an operation of an indirect style, only while
    {!takes_slow_path}. *)

(** {2 Tasks that are found} *)

type found = Identity.pointer * Holder.t
(** A holder, with the structure that it holds. *)

val add_finder : (unit -> found list) -> unit
(** For a host that knows which task another one waits for. *)

val find : unit -> found list
(** The results of all finders. *)
