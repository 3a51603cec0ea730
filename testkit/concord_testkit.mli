(** Tests whether your scheduler, or your structure, keeps the contract.

    {b Stability}: experimental, because a new clause or check may need a longer
    description.

    One call runs the tests, and reports one line for each clause. The clause is
    kept, broken (with the run that broke it), or not offered, as declared by a
    scheduler about an optional clause. You don't need a test framework. If you
    have written a scheduler or a plug-in, start with {!Host}. If you have
    written a structure, start with {!Operation}. {!Structure} compares it with
    a description.

    {[
    module Take = struct
      include Concord_testkit.Operation.Defaults

      type t = int Concord.Mvar.t

      let name = "Mvar.take"
      let service = Concord_testkit.Operation.Takes
      let create _ = Concord.Mvar.create_empty ()
      let wait box _ = Concord.Mvar.take box
      let release box x = if Concord.Mvar.try_put box x then 0 else x
    end
    ]}

    {[
      # Concord_testkit.(Report.passed (Operation.check ~seconds:0.1 (module Take)))
      - : bool = true
    ]} *)

module Host = Host
module Operation = Operation
module Description = Description
module Structure = Structure
module Report = Report
