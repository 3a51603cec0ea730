(** Small faults that can be made in a source file of OCaml. *)

type t = {
  start : int;  (** the first byte that is replaced *)
  stop : int;  (** the byte after the last one *)
  text : string;  (** what replaces them, in parentheses where needed *)
  line : int;  (** where it begins *)
  what : string;  (** the fault, in words: ["<= for <"] *)
}

val all : string -> t list
(** [all source] is each single fault of these, from the top to the bottom:

    - a condition of [if], [when] or [while] is negated;
    - [&&] and [||], [<] and [<=], [>] and [>=], [=] and [<>], [==] and [!=],
      [+] and [-], [succ] and [pred], [incr] and [decr], [true] and [false] are
      exchanged;
    - [e + 1] and [e - 1] become [e];
    - a statement, which is followed by another, ends a sequence, is bound to
      [()] or is the only branch of an [if], becomes [()];
    - [Atomic.compare_and_set] does what it does, but answers always [true], or
      always [false].

    Assertions are left alone. Some of the faults do not compile.
    @raise Syntaxerr.Error
      and other exceptions of the compiler's where [source] is not OCaml. *)

val apply : string -> t -> string
(** [apply source fault] is [source] with that fault. *)

val pp : string -> Format.formatter -> t -> unit
(** [pp source] prints the code and the fault, on one line. *)

(** {1 What a file names} *)

val modules : string -> string list
(** [modules source] is each capitalised name in it outside of comments and
    strings. *)

val is_index : string -> bool
(** [is_index source] is whether it does nothing but give modules names. *)
