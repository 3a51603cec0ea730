let () = Concord_bench.Worker.serve_rows Async_rows.all
