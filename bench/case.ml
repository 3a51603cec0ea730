(** Describes measurements.

    A group is what the user names. It has comparisons. A comparison measures
    its rows in turns, so that the ratio of two rows does not depend on other
    work of the machine. To add a group, write a module like {!Bench_mvar}, and
    add it to the list in {!Groups}. *)

type level = Least | Quick | Full

type amount = { full : int; quick : int; least : int }
(** A number for each level. *)

(** A sample is a time in nanoseconds, without the time to set things up, or
    another {!Figure}. *)
type sample =
  | Time of (int -> float)
      (** [f n] performs [n] operations, which is the number that fits into a
          sample. One process takes all samples, each after a tenth as many
          operations as a warm-up. *)
  | Crowd of int * (tasks:int -> int -> float)
      (** [Crowd (tasks, f)]: [f ~tasks n] is like the function of {!Time}, but
          with this number of tasks, or with fewer if the figures don't matter.
          It does some operations before it reads the clock. *)
  | Counted of {
      figure : Figure.t;
      operations : amount;  (** If it is 0, the row is left out. *)
      samples : amount;  (** The greatest number of samples. *)
      run : int -> float;
    }
      (** [run n] performs [n] operations, or holds [n] things. This number is
          part of the measurement. Each sample is taken in a new process. *)
  | Load of {
      figure : Figure.t;
      nth : int;  (** The index of the answer, from 0. *)
      name : string;
      ms : amount;
      rate : unit -> float;
      run : crowd:int -> seconds:float -> rate:float -> float list;
    }
      (** [run ~crowd ~seconds ~rate] applies a load for this time, over at most
          [crowd] connections, and returns the answers. Requests are due at
          [rate] per second. If [rate] is [infinity], each is due as soon as the
          previous one is answered. The coordinator calls the baseline's
          [rate ()] once at the start of each turn, for all rows of the turn,
          because it may depend on the present speed of the machine. If
          comparisons of a group have loads of the same name, they have the same
          rows except for [figure] and [nth]. Such a load is measured once for
          all of them. *)

(** The program that measures a row. *)
type program =
  | Linked  (** The program with the plug-ins. *)
  | Unlinked  (** The program without the plug-ins. *)
  | Bytecode  (** The program with the plug-ins, in bytecode. *)
  | Go  (** [go/main.go], which has cases of the same names. *)
  | Node  (** [node/rows.js], in the same way. *)
  | Tokio  (** [tokio/main.rs], in the same way. *)
  | Picos  (** [picos/], in the same way, if that library is visible. *)
  | Async
      (** [async/], in the same way. Concord's rows in it have the plug-in for
          Async. *)

type row = {
  case : string;
  impl : string;
  host : string;
  program : program;
  sample : sample;
}

type comparison = {
  title : string;  (** One operation, and the number of domains. *)
  baseline : row;
  others : row list;
}

(** {2 Beside an idle domain}

    While a program has only one domain, OCaml leaves out the overhead that
    several domains need, for example the lock prefix of atomic operations. Most
    programs have more domains. *)

let suffix = "-beside"
let is_beside case = String.ends_with ~suffix case

(** The same case in a program of one domain. *)
let plain case =
  if is_beside case then
    String.sub case 0 (String.length case - String.length suffix)
  else case

(** Each of the comparisons, which run on one domain, followed by the same
    comparison in a program whose second domain sleeps. {!Worker} starts that
    domain for the rows of a case with the suffix. It works only for samples
    that are taken in one process. *)
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

(* The number of samples is not limited. At the level [Least] one process is enough, because
   a second one would do the same. *)
let as_many_as_fit = { full = max_int; quick = max_int; least = 1 }

let counted ?(samples = as_many_as_fit) figure operations run =
  Counted { figure; operations; samples; run }

(** The size of a process varies much less than its speed, and a sample of it
    takes seconds, so few samples are enough. *)
let few = { full = 3; quick = 3; least = 1 }

(** [f n] is the number of bytes by which the process grew to hold [n] things.
    It begins with a heap without free memory. *)
let resident f =
  counted Figure.bytes ~samples:few
    { full = 1_000_000; quick = 100_000; least = 10_000 } (fun n ->
      Gc.compact ();
      f n)

(** Calls [f n] with a clean heap, after a tenth as many operations have warmed
    the caches. *)
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

(* The rows of [picos] and [async] are measured by other programs, so here they have these
   samples. *)
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
