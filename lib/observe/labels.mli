(** What structures are called, where they were made, and who holds them: beside
    the structures, which need no room for it.

    None of these functions suspends, but {!holding}. All are safe from any
    domain and thread, and in signal handlers. *)

val made :
  ?kind:string ->
  ?name:string ->
  ?holders:(unit -> Waits.holder list) ->
  'structure ->
  'structure
(** To be called by the function that makes a structure; it returns the
    structure. The name is noted, and while {!Waits.are_kept} the frames of the
    caller. [kind] is what such a structure is called, as ["stream"].
    [holders ()] are those who can end a wait there, if that is known. {b Cost}
    without a name, and while waits are not kept: one read. *)

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
(** The part is called as the structure is that it belongs to. It returns the
    part. {b Cost}: one read if there is no label; else O(1) amortised. *)

val waited_in : from:'structure -> 'part -> 'part
(** The same for a part that is made for one wait, and refers to the structure:
    {b Cost} one read while waits are not kept. *)

val holding : 'structure -> Waits.holder -> (unit -> 'a) -> 'a
(** [holding structure holder f] is [f ()]; while it runs, [holder] is one of
    the {!holders}. *)

val given : Waits.holder
(** A task that was given something, and has not said yet who it is. *)

(** {2 Looking} *)

type t = {
  kind : string option;
  name : string option;
  made_at : Printexc.raw_backtrace option;
  holders : unit -> Waits.holder list;
  whole : Identity.pointer;
      (** To that of which the structure is a part, or nowhere. *)
}

type label = {
  attached : t Identity.attached;
  is_first : bool;  (** Was it attached when the structure was made? *)
}

val all : unit -> label list
(** The newest first. Those whose structures are gone are dropped. *)

type found = Identity.pointer * Waits.holder
(** One who holds the structure. *)

val found_now : unit -> found list
(** Those of {!holding}, and of all finders. *)

val add_finder : (unit -> found list) -> unit
(** For what needs no label, as its holders can be found. *)

val describe : Identity.pointer -> string option
(** As ["stream \"jobs\", made in server.ml, line 12"]; [None] if nothing is
    known. *)

val name : Identity.pointer -> string option
(** The name that the program gave it, or that of which it is a part. {b Cost}:
    one read if there is no label; else O(n) for [n] labels. *)

(** {2 Exceptions}

    Programs match them: so what raised them is noted beside them. *)

val explain :
  ?otherwise:(exn -> string) ->
  ?of_kind:(string -> string option) ->
  exn ->
  unit
(** [explain e]: from now on what raises [e], or another exception of its
    constructor, is noted. The printer of exceptions adds what raised the
    exception last in the calling thread, if that is known. Without it the
    printer says [otherwise e], or leaves [e] to others. With it, [of_kind] may
    give [e] another name, from the kind of what raised it. *)

val raises : exn -> 'structure -> unit
(** To be called before an operation on the structure raises an exception.
    {b Cost}: one read if there is no label. *)

val raises_unknown : exn -> unit
(** The same where the structure is not known any more: so that no other one is
    named instead. *)
