(** The table of all cells, with a line for each pair of hosts and a column for
    each structure. It is printed while the cells run. *)

type row = { pair : string; cells : Pair.cell list }

type choice =
  | All
  | Drawn of { seed : int; of_each_row : int }
      (** How many cells of each row run. *)

val print :
  title:string ->
  structures:string list ->
  choice ->
  ((row -> unit) -> unit) ->
  unit
(** [print ~title ~structures choice rows] calls [rows f], which must call [f]
    for each row in turn. [f] runs the chosen cells, and prints a mark for each
    cell. Below the table it explains the marks and why cells were skipped. If a
    cell fails, or hasn't ended after 60 s, it prints the cell's name, and the
    program ends with code 1 or 2. Call it only once. *)

val failed : exn -> 'a
(** Ends the program as if a cell had failed. *)
