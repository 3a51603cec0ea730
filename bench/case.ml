(** What there is to measure.

    A group is what the user names. It holds comparisons; each measures its rows
    in turns, so that a ratio between two of them does not depend on what else
    the machine did meanwhile. To add a group, write one module like
    {!Bench_mvar} and list it in {!Groups}. *)

type level = Least | Quick | Full

type amount = { full : int; quick : int; least : int }
(** Of something, by the level. *)

(** A sample is the nanoseconds that something took without whatever had to be
    set up for it, or the {!Figure} of something else. *)
type sample =
  | Time of (int -> float)
      (** [f n] performs [n] operations: as many as fit into a sample. A process
          takes all samples, each after a tenth as many operations. *)
  | Crowd of int * (tasks:int -> int -> float)
      (** [Crowd (tasks, f)]: [f ~tasks n] is as for {!Time}, and needs so many
          tasks for it, or fewer where the figures mean nothing. It does some
          operations before the clock is read. *)
  | Counted of {
      figure : Figure.t;
      operations : amount;  (** None: the row is left out. *)
      samples : amount;  (** At most so many. *)
      run : int -> float;
    }
      (** [run n] performs [n] operations, or holds [n] things: their number is
          part of what is measured. Each sample is taken in a new process. *)
  | Load of {
      figure : Figure.t;
      nth : int;  (** Which of the answers it is, from 0. *)
      name : string;
      ms : amount;
      rate : unit -> float;
      run : crowd:int -> seconds:float -> rate:float -> float list;
    }
      (** [run ~crowd ~seconds ~rate] is what so long a load was answered with,
          over at most [crowd] connections. Requests are due at [rate] per
          second, or as fast as they are answered, if that is [infinity]. The
          baseline's [rate ()] is called in the coordinator at the start of each
          turn, for all rows of the turn: it may depend on what the machine can
          do at the time. The comparisons of a group with a load of the same
          name have the same rows but for [figure] and [nth]: what one of them
          was measured with counts for the next one too. *)

(** What a row is measured in. *)
type program =
  | Linked  (** The program with the plug-ins. *)
  | Unlinked  (** The one without. *)
  | Bytecode  (** The first of them, in bytecode. *)
  | Go  (** [go/main.go], which has cases of the same names. *)
  | Node  (** [node/rows.js], likewise. *)
  | Tokio  (** [tokio/main.rs], likewise. *)
  | Picos  (** [picos/], likewise; where that library is visible. *)
  | Async  (** [async/], likewise. Its rows of ours have the plug-in for it. *)

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

(** {2 Beside an idle domain}

    OCaml leaves out what several domains need while a program has only one: the
    lock prefix of its atomic operations, for one. Most programs have more. *)

let suffix = "-beside"
let is_beside case = String.ends_with ~suffix case

(** The case that is measured in a program of one domain. *)
let plain case =
  if is_beside case then
    String.sub case 0 (String.length case - String.length suffix)
  else case

(** Each of the comparisons, which run on one domain, and after it the same in a
    program whose second domain sleeps: {!Worker} makes that one for the rows of
    a case with the suffix. Only for what takes its samples in one process. *)
let beside comparisons =
  let row row =
    (match row.sample with
    | Time _ | Crowd _ -> ()
    | Counted _ | Load _ -> invalid_arg ("Case.beside: " ^ row.case));
    { row with case = row.case ^ suffix }
  in
  let second { title; baseline; others } =
    {
      title = title ^ "; beside a second domain, which sleeps";
      baseline = row baseline;
      others = List.map row others;
    }
  in
  List.concat_map (fun c -> [ c; second c ]) comparisons

type group = { name : string; doc : string; comparisons : comparison list }

let row ?(program = Linked) ~case ~impl ~host sample =
  { case; impl; host; program; sample }

(* A second process does what the first one did. *)
let as_many_as_fit = { full = max_int; quick = max_int; least = 1 }

let counted ?(samples = as_many_as_fit) figure operations run =
  Counted { figure; operations; samples; run }

(** The size of a process varies by much less than its speed, and a sample of it
    takes seconds. *)
let few = { full = 3; quick = 3; least = 1 }

(** [f n] is by how many bytes the process grew to hold [n] things, from a heap
    in which nothing is free. *)
let resident f =
  counted Figure.bytes ~samples:few
    { full = 1_000_000; quick = 100_000; least = 10_000 } (fun n ->
      Gc.compact ();
      f n)

(** [f n], from a clean heap, when a tenth of it has warmed the caches. *)
let warmed_up f n =
  Gc.full_major ();
  ignore (f (1 + (n / 10)) : float);
  f n

let measured_elsewhere _ = invalid_arg "a row of another program"
let go_row case sample = row ~program:Go ~case ~impl:"go" ~host:"go" sample
let go case = go_row case (Time measured_elsewhere)

let tokio case =
  row ~program:Tokio ~case ~impl:"tokio" ~host:"tokio" (Time measured_elsewhere)

let node case ~host =
  row ~program:Node ~case ~impl:"node" ~host (Time measured_elsewhere)

let go_crowd case ~tasks =
  go_row case (Crowd (tasks, fun ~tasks:_ -> measured_elsewhere))

let go_resident case = go_row case (resident measured_elsewhere)

(* What [picos] and [async] are measured by there. *)
let elsewhere = Time measured_elsewhere
let crowd_elsewhere tasks = Crowd (tasks, fun ~tasks:_ -> measured_elsewhere)
let resident_elsewhere = resident measured_elsewhere

let picos case sample =
  row ~program:Picos ~case ~impl:"picos" ~host:"picos" sample

let async case sample =
  row ~program:Async ~case ~impl:"async" ~host:"async" sample

let rows comparison = comparison.baseline :: comparison.others

let at level { full; quick; least } =
  match level with Full -> full | Quick -> quick | Least -> least

let nth row = match row.sample with Load { nth; _ } -> nth | _ -> 0

let figure row =
  match row.sample with
  | Time _ | Crowd _ -> Figure.ns
  | Counted { figure; _ } | Load { figure; _ } -> figure
