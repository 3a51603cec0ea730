(** The kind of a value. *)

type t = {
  unit_ : string;
  per_unit : float;
      (** The number of nanoseconds, or of the sample's own unit, that make one
          unit of the figure. *)
  more_is_better : bool;
}

let ns = { unit_ = "ns"; per_unit = 1.; more_is_better = false }
let us = { ns with unit_ = "us"; per_unit = 1e3 }
let ms = { ns with unit_ = "ms"; per_unit = 1e6 }
let percent = { ns with unit_ = "%" }
let bytes = { ns with unit_ = "bytes" }

(** The latency of a load, whose answers are in microseconds. *)
let latency = { ns with unit_ = "us" }

let throughput = { ns with unit_ = "req/s"; more_is_better = true }
