(** How long tasks wait and hold, and what structures contain (see
    {!Concord.Tools.Metrics}).

    None of these functions suspends, except that {!during} suspends as its
    function. All are safe from any domain and thread. *)

val start : unit -> unit

(** {2 Told by the core}

    While {!Observer.measures}. *)

val during :
  Target.t list ->
  (('a Concord_suspend.resumer -> 'a option) -> 'a) ->
  ('a Concord_suspend.resumer -> 'a option) ->
  'a
(** [during targets suspend block] is [suspend block], measured. *)

val operation :
  Target.t ->
  ('a Concord_suspend.resumer -> 'a option) ->
  ('a Concord_suspend.resumer -> 'a option) * (unit -> unit)
(** For an operation without a stack. Call the second function when it has
    ended. *)

val gave_back : kind:string -> 'structure -> Holder.t -> unit
(** {!Holders.gives_back}. *)

(** {2 Reading}

    {b Cost}: O(n) for [n] series or labels. *)

type counted = {
  what : string;  (** The operation, or the kind of what is held. *)
  structure : string;
      (** The name, [""] for all without a name, or {!others}. *)
  waiting_now : int;
  took : int list;
      (** How many waits or holds have ended, one number for each of
          {!limits_ns}, and one for those that took longer. *)
  ns : int;  (** How long these took. *)
}

val limits_ns : int list
(** Growing limits of times. *)

val all_waits : unit -> counted list
val all_holds : unit -> counted list

val most : int
(** No more series than that of each sort are kept, beside those of {!others}.
*)

val others : string
(** The name under which the rest is counted. *)

val has_others : unit -> bool
(** [true] once something was counted as one of {!others}. *)

type structure = {
  kind : string;
  name : string;
  length : int option;  (** These are those of {!Observer.figure}. *)
  capacity : int option;
  used : int option;
  limit : int option;
  busy_ns : int option;
}

val structures : unit -> structure list
(** Those that have figures and a label. Several may have the same kind and
    name. *)
