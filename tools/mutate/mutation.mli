(** The small faults that can be made in a source file of OCaml. *)

type t = {
  start : int;  (** the first byte that is replaced *)
  stop : int;  (** the byte after the last one *)
  text : string;  (** the replacement, in parentheses if needed *)
  line : int;  (** the line on which the replaced code begins *)
  what : string;  (** the fault in words, for example ["<= for <"] *)
}

val all : string -> t list
(** [all source] is the list of all single faults of these kinds, from the top
    to the bottom:

    - A condition of [if], [when] or [while] is negated.
    - [&&] and [||], [<] and [<=], [>] and [>=], [=] and [<>], [==] and [!=],
      [+] and [-], [succ] and [pred], [incr] and [decr], [true] and [false] are
      exchanged.
    - [e + 1] and [e - 1] become [e].
    - A statement becomes [()]. Statements are followed by another one, end a
      sequence, are bound to [()], or are the only branch of an [if].
    - [Atomic.compare_and_set] works as usual, but always returns [true], or
      always [false].
    - A step ({!Concord.Tools.Structure_kit.Step}) ends too early, is repeated,
      confuses [accepted] and [refused], skips a waiter, or resumes no task. If
      it ends too early, its result is [()], [None], [false], [[]] or [0].

    Assertions are not changed. Some of the faults do not compile, mostly a call
    that is left out although its result is not [()].
    @raise Syntaxerr.Error
      and other exceptions of the compiler if [source] is not OCaml. *)

val apply : string -> t -> string
(** [apply source fault] is [source] with that fault. *)

val pp : string -> Format.formatter -> t -> unit
(** [pp source] prints the code and the fault on one line. *)

(** {1 The names in a file} *)

val modules : string -> string list
(** [modules source] are all capitalised names in it, outside comments and
    strings. *)

val is_index : string -> bool
(** [is_index source] is [true] if the file only gives names to modules. *)
