(** The names of structures, the places where they were created, and the tasks
    that hold them. They are kept beside the structures, which need no room for
    them.

    None of these functions suspends, except {!holding}. All are safe from any
    domain and thread. *)

val made :
  ?kind:string ->
  ?name:string ->
  ?holders:(unit -> Waits.holder list) ->
  'structure ->
  'structure
(** The function that makes a structure calls this, and returns the structure.
    The name is noted, and while {!Waits.are_kept} the frames of the caller.
    [kind] is the name of such structures, for example ["stream"]. [holders ()]
    are the tasks that can end a wait there, if they are known. {b Cost} without
    a name, and while waits are not kept: one read. *)

val add :
  ?kind:string ->
  ?name:string ->
  ?made_at:Printexc.raw_backtrace ->
  ?holders:(unit -> Waits.holder list) ->
  'structure ->
  unit
(** The structure is not kept alive, although [holders] refers to it. {b Cost}:
    O(1) amortised. *)

val derived : from:'structure -> 'part -> 'part
(** [derived ~from part] gives [part] the name of the structure that it belongs
    to, and returns it. {b Cost}: one read if there is no label, and otherwise
    O(1) amortised. *)

val waited_in : from:'structure -> 'part -> 'part
(** {!derived} for a part that is made for one wait, and refers to the
    structure. {b Cost}: one read while waits are not kept. *)

val holding : 'structure -> Waits.holder -> (unit -> 'a) -> 'a
(** [holding structure holder f] is [f ()]. While it runs, [holder] is one of
    the {!holders}. *)

val given : Waits.holder
(** A task that was given something, and whose identity is not known yet. *)

(** {2 Looking up} *)

type t = {
  kind : string option;
  name : string option;
  made_at : Printexc.raw_backtrace option;
  holders : unit -> Waits.holder list;
  whole : Identity.pointer;
      (** A pointer to the structure that this is a part of, or nowhere. *)
}

type label = {
  attached : t Identity.attached;
  is_first : bool;  (** [true] if it was attached when the structure was made. *)
}

val all : unit -> label list
(** The newest first. Labels whose structures were collected are dropped. *)

type found = Identity.pointer * Waits.holder
(** A holder, with the structure that it holds. *)

val found_now : unit -> found list
(** The holders of {!holding}, and of all finders. *)

val add_finder : (unit -> found list) -> unit
(** For structures that need no label, because their holders can be found. *)

val describe : Identity.pointer -> string option
(** For example ["stream \"jobs\", made in server.ml, line 12"]. It is [None] if
    nothing is known. *)

val name : Identity.pointer -> string option
(** The name that the program gave the structure, or the one that it is a part
    of. {b Cost}: one read if there is no label, and otherwise O(n) for [n]
    labels. *)

(** {2 Exceptions}

    Programs match exceptions, so the structure that raised one is noted beside
    it. *)

val explain :
  ?otherwise:(exn -> string) ->
  ?of_kind:(string -> string option) ->
  exn ->
  unit
(** [explain e] makes the library note which structure raises [e], or another
    exception of its constructor. The printer of exceptions adds the structure
    that raised the exception last in the calling thread, if it is known.
    Otherwise the printer prints [otherwise e], or leaves [e] to other printers.
    If the structure is known, [of_kind] may give [e] another name, from the
    structure's kind. *)

val raises : exn -> 'structure -> unit
(** Call it before an operation on the structure raises an exception. {b Cost}:
    one read if there is no label. *)

val raises_unknown : exn -> unit
(** The same if the structure is not known any more, so that no other one is
    named instead. *)
