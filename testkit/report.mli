(** The results of a suite of checks, clause by clause.

    {b Stability}: experimental, because a new clause or check may need a longer
    description.

    {[
      # open Concord_testkit
      # let line () = { Report.clause = "S4"; about = "waiters are served in order"; advice = []; verdict = Kept }
      val line : unit -> Report.line = <fun>
      # print_string (Report.to_string { subject = "Mvar.take"; seed = 1; lines = [ line () ] })
      Mvar.take (seed 1)
      S4  kept    waiters are served in order
      1 kept, 0 broken, 0 not offered
      - : unit = ()
    ]} *)

type verdict =
  | Kept
  | Broken of string  (** The fault. *)
  | Not_offered of string
      (** The scheduler declares that it lacks the clause's feature, or the
          operation has no such feature. The text says why. *)

type line = {
  clause : string;  (** Its short name, for example ["H1"]. *)
  about : string;  (** The demand of the clause, in one line. *)
  advice : (string * string) list;
      (** What to do if the clause is broken. Each line has a label, for example
          ["read"] with the section explaining the clause. *)
  verdict : verdict;
}

type t = {
  subject : string;  (** The name of the scheduler or operation. *)
  seed : int;  (** With the same seed the random choices are the same. *)
  lines : line list;  (** In the order of the checks. *)
}

val passed : t -> bool
(** [passed report] is [true] if no clause is broken. Clauses that are not
    offered don't count. *)

val broken : t -> string list
(** The broken clauses. *)

val verdict : t -> string -> verdict
(** [verdict report clause] is the verdict on this clause.

    - {b Raises} [Invalid_argument] if there is none. *)

val to_string : t -> string
(** [to_string report] has the subject, a line for each clause, and a last line
    with their numbers.

    Below a broken clause are its rule and its advice, and a report with a
    broken clause ends with the pages that explain it. Each line ends with a
    newline, even the last one. *)

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
(** [printing ~subject ~seed ~clauses look] is the report of the lines of
    [look show].

    It is printed like {!print}, each line as soon as [look] has called [show]
    with it. [clauses] are their names. *)
