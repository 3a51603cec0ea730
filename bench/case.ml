(** What there is to measure.

    A group is what the user names. It holds comparisons; each measures its rows
    in turns, so that a ratio between two of them does not depend on what else
    the machine did meanwhile. To add a group, write one module like
    {!Bench_mvar} and list it in {!Groups}. *)

type sample =
  | Time of (int -> float)
      (** [f n] performs [n] operations and is the nanoseconds that they took,
          without whatever had to be set up for them. *)
  | Resident of (int -> float)
      (** [f n] holds [n] things at once and is by how many resident bytes the
          process grew. Each sample is taken in a new process. *)

type row = {
  case : string;
  impl : string;
  host : string;
  plug_ins : bool;  (** Measured in the program in which they are linked. *)
  sample : sample;
}

type comparison = {
  title : string;  (** What one operation is, and on how many domains. *)
  baseline : row;
  others : row list;
}

type group = { name : string; doc : string; comparisons : comparison list }

let row ?(plug_ins = true) ~case ~impl ~host sample =
  { case; impl; host; plug_ins; sample }

let rows comparison = comparison.baseline :: comparison.others
let unit_of row = match row.sample with Time _ -> "ns" | Resident _ -> "bytes"
