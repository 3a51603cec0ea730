module Host = Host
module Operation = Operation
module Report = Report
