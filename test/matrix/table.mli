(** The table of all cells: a line for each pair of hosts, a column for each
    structure. It is printed while it is filled. *)

type row = { pair : string; cells : Pair.cell list }

type choice =
  | All
  | Drawn of { seed : int; of_each_row : int }
      (** So many cells of each row. *)

val print :
  title:string ->
  structures:string list ->
  choice ->
  ((row -> unit) -> unit) ->
  unit
(** [print ~title ~structures choice rows] calls [rows f], which calls [f] for
    each row in turn: [f] runs the chosen cells, and prints a mark for each
    cell; below the table, what the marks mean and why cells were skipped. A
    cell that fails, or has not ended after 60 s, ends the program with code 1
    or 2, and is named. To be called once. *)

val failed : exn -> 'a
(** Ends the program as a cell that fails does. *)
