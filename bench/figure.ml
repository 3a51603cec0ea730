(** What a value is, and how it is told. *)

type t = {
  unit_ : string;
  per_unit : float;
      (** So many nanoseconds, or of what else a sample is, make one. *)
  more_is_better : bool;
  better : string;
  worse : string;
  decimals : int;
}

let ns =
  {
    unit_ = "ns";
    per_unit = 1.;
    more_is_better = false;
    better = "faster";
    worse = "slower";
    decimals = 1;
  }

let us = { ns with unit_ = "us"; per_unit = 1e3; decimals = 3 }
let ms = { ns with unit_ = "ms"; per_unit = 1e6; decimals = 3 }
let bytes = { ns with unit_ = "bytes"; better = "smaller"; worse = "larger" }

(** Of a load, which is answered with microseconds. *)
let latency = { ns with unit_ = "us" }

let throughput =
  {
    ns with
    unit_ = "req/s";
    more_is_better = true;
    better = "more";
    worse = "less";
  }
