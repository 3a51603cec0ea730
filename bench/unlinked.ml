let () = Concord_bench.Worker.serve Concord_bench.Groups.all
