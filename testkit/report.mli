(** What a suite of checks has found, clause by clause.

    {b Stability}: experimental, may change in any release. *)

type verdict =
  | Kept
  | Broken of string  (** What was seen. *)
  | Not_offered of string
      (** What was tested has not what the clause is about: why. *)

type line = {
  clause : string;  (** Its short name: ["H1"]. *)
  about : string;  (** What the clause asks for, in one line. *)
  verdict : verdict;
}

type t = {
  subject : string;  (** What was tested. *)
  seed : int;  (** With it the random choices are the same. *)
  lines : line list;  (** In the order of the checks. *)
}

val passed : t -> bool
(** No clause is broken. Those that are not offered do not count. *)

val broken : t -> string list
(** The clauses that are broken. *)

val verdict : t -> string -> verdict
(** [verdict report clause] is that of the line of this clause.
    - {b Raises} [Invalid_argument] if there is none. *)

val to_string : t -> string
(** The subject, a line for each clause, and a last one that counts them. Below
    a clause that is broken stands what it asks for. Each line ends with a
    newline, also the last one. *)

val print : t -> unit
(** [print report] writes [to_string report] to the standard output. *)

(**/**)

(** For the suites only. *)

val printing :
  subject:string ->
  seed:int ->
  clauses:string list ->
  ((line -> line) -> line list) ->
  t
(** [printing ~subject ~seed ~clauses look] is the report of the lines that
    [look show] returns; it is printed as by {!print}, each line as soon as
    [look] has called [show] with it. [clauses] are their names. *)
