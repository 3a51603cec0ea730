(** The names of structures, the places where they were created, and the tasks
    that hold them. They are kept beside the structures, which need no room for
    them.

    None of these functions suspends. All are safe from any domain and thread.
*)

val made :
  kind:string option ->
  name:string option ->
  holders:(unit -> Holder.t list) option ->
  figures:('structure -> Observer.figure list) option ->
  'structure ->
  unit
(** {!Observer.val-made}. *)

val part : waited_in:bool -> 'structure -> 'part -> unit
(** {!Observer.waited_in} or {!Observer.derived}. {b Cost}: O(1) amortised. *)

type lists

val lists : lists Atomic.t
(** All labels, for [concord-trace --waits]. *)

val add :
  ?kind:string ->
  ?name:string ->
  ?made_at:Printexc.raw_backtrace ->
  ?holders:(unit -> Holder.t list) ->
  ?is_over:(unit -> bool) ->
  'structure ->
  unit
(** The structure is not kept alive, although [holders] refers to it. The label
    is dropped once [is_over ()], even if the structure lives. A label that has
    nothing but a name replaces another one. {b Cost}: O(1) amortised, O(log n)
    for a name alone. *)

(** {2 Looking up} *)

type t = {
  kind : string option;
  name : string option;
  made_at : Printexc.raw_backtrace option;
  holders : unit -> Holder.t list;
  whole : Identity.pointer;
      (** A pointer to the structure that this is a part of, or nowhere. *)
  figures : (unit -> Observer.figure list) option;  (** {!Observer.val-made}. *)
}

type label = {
  attached : t Attached_data.t;
  is_first : bool;
      (** [true] if it was attached when the structure was made. *)
  is_over : unit -> bool;  (** {!add}. *)
  is_replaced : bool Atomic.t;
      (** [true] if it has nothing but a name, and the structure has a newer
          one. *)
}

val all : unit -> label list
(** The newest first. Labels whose structures were collected are dropped. *)

val describe : Identity.pointer -> string option
(** For example ["stream \"jobs\", made in server.ml, line 12"]. It is [None] if
    nothing is known. *)

val name : Identity.pointer -> string option
(** The name that the program gave the structure, or the one that it is a part
    of. {b Cost}: O(log n) amortised for [n] labels. *)

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
(** {!Observer.val-raises}. *)
