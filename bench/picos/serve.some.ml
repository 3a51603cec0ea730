let () = Concord_bench.Worker.serve_rows Picos_rows.all
