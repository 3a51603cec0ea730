module Host = Host
module Operation = Operation
module Description = Description
module Structure = Structure
module Report = Report
