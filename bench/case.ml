(** What there is to measure.

    A group is what the user names. It holds comparisons; each measures its rows
    in turns, so that a ratio between two of them does not depend on what else
    the machine did meanwhile. To add a group, write one module like
    {!Bench_mvar} and list it in {!Groups}. *)

(** What a load is measured by. *)
type figure =
  | Throughput  (** Requests per second: the more, the better. *)
  | Latency  (** Microseconds. *)

type level = Least | Quick | Full

type answers = { per_second : float; latency_us : float }
(** What a load was answered with. *)

type counts = {
  full : int;
  quick : int;  (** With [--quick]; {!Measure.smoke} may do with fewer. *)
}

type scale = Ns | Us | Ms

type sample =
  | Time of (int -> float)
      (** [f n] performs [n] operations and is the nanoseconds that they took,
          without whatever had to be set up for them. *)
  | Counted of counts * scale * (int -> float)
      (** As {!Time}, but the number of operations is part of what is measured:
          it is given, where that of {!Time} is what fits into a sample. Each
          sample is taken in a new process. *)
  | Crowd of int * (tasks:int -> int -> float)
      (** [Crowd (tasks, f)]: [f ~tasks n] is as for {!Time}, and needs so many
          tasks for it, or fewer where the figures mean nothing. It does some
          operations before the clock is read. *)
  | Served of figure * (crowd:int -> seconds:float -> float)
      (** [f ~crowd ~seconds] is the figure of so long a load, over at most
          [crowd] connections. *)
  | Once of { unit_ : string; effort : level; measure : unit -> float }
      (** [measure ()] is what doing something once took, in a new process. With
          less effort the row is left out. *)
  | Loaded of figure * string * (crowd:int -> seconds:float -> answers)
      (** [Loaded (figure, load, f)]: likewise, where [f] gives both figures. A
          load of this name is offered once to all rows of a group that have it
          and the same [impl] and [host]: what one row was measured with counts
          for the next one too. *)
  | Resident of (int -> float)
      (** [f n] holds [n] things at once and is by how many resident bytes the
          process grew. Each sample is taken in a new process. *)

(** What a row is measured in. *)
type program =
  | Linked  (** The program with the plug-ins. *)
  | Unlinked  (** The one without. *)
  | Bytecode  (** The first of them, in bytecode. *)
  | Go  (** [go/main.go], which has cases of the same names. *)
  | Node  (** [node/rows.js], likewise. *)

type row = {
  case : string;
  impl : string;
  host : string;
  program : program;
  sample : sample;
}

type comparison = {
  title : string;  (** What one operation is, and on how many domains. *)
  baseline : row;
  others : row list;
}

type group = { name : string; doc : string; comparisons : comparison list }

let row ?(program = Linked) ~case ~impl ~host sample =
  { case; impl; host; program; sample }

let measured_elsewhere _ = invalid_arg "a row of another program"

let go_row case sample =
  { case; impl = "go"; host = "go"; program = Go; sample }

let go case = go_row case (Time measured_elsewhere)

let node case ~host =
  {
    case;
    impl = "node";
    host;
    program = Node;
    sample = Time measured_elsewhere;
  }

let go_crowd case ~tasks =
  go_row case (Crowd (tasks, fun ~tasks:_ -> measured_elsewhere))

let go_resident case = go_row case (Resident measured_elsewhere)
let rows comparison = comparison.baseline :: comparison.others

let figure figure { per_second; latency_us } =
  match figure with Throughput -> per_second | Latency -> latency_us

let more_is_better row =
  match row.sample with
  | Served (Throughput, _) | Loaded (Throughput, _, _) -> true
  | Served (Latency, _)
  | Loaded (Latency, _, _)
  | Time _ | Counted _ | Crowd _ | Once _ | Resident _ ->
      false

let in_ns = function Ns -> 1. | Us -> 1e3 | Ms -> 1e6

let unit_of row =
  match row.sample with
  | Time _ | Crowd _ | Counted (_, Ns, _) -> "ns"
  | Counted (_, Us, _) -> "us"
  | Counted (_, Ms, _) -> "ms"
  | Resident _ -> "bytes"
  | Once { unit_; _ } -> unit_
  | Served (Throughput, _) | Loaded (Throughput, _, _) -> "req/s"
  | Served (Latency, _) | Loaded (Latency, _, _) -> "us"
