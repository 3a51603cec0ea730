(** Tests whether your scheduler, or your structure, keeps the contract.

    {b Stability}: experimental, may change in any release.

    One call runs the tests, and reports one line for each clause. The clause is
    kept, broken (with the run that broke it), or not offered. You don't need a
    test framework. If you have written a scheduler or a plug-in, start with
    {!Host}. If you have written a structure, start with {!Operation}. *)

module Host = Host
(** Tests of schedulers, and of plug-ins for schedulers. *)

module Operation = Operation
(** Tests of operations that may wait. *)

module Report = Report
(** The results of a suite of checks. *)
