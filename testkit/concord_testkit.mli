(** Does your scheduler, or your structure, keep the contract?

    {b Stability}: experimental, may change in any release.

    One call tests it, and reports one line for each clause: kept, broken with
    what was seen, or not offered. It needs no test framework. {!Host} is for
    authors of schedulers. *)

module Host = Host
(** Schedulers, and plug-ins for schedulers: does their tasks' waiting compose
    with that of all others? *)

module Operation = Operation
(** Operations that may wait: do they keep the promises of a structure? *)

module Report = Report
(** What a suite of checks has found. *)
