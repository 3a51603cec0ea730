open Case

let here row = Worker.is_there row.program

let without_missing group =
  let comparison c =
    match List.filter here (rows c) with
    | [] -> None
    | baseline :: others -> Some { c with baseline; others }
  in
  { group with comparisons = List.filter_map comparison group.comparisons }

let all =
  List.map without_missing
    [
      Bench_mvar.group;
      Bench_cancel_cost.group;
      Bench_search.group;
      Bench_debug.group;
      Bench_suspend.group;
      Bench_effect.group;
      Bench_structures.group;
      Bench_event.group;
      Bench_lazy.group;
      Bench_lwt.group;
      Bench_async.group;
      Bench_bridge.group;
      Bench_caqti.group;
      Bench_styles.group;
      Bench_lwc.group;
      Bench_generator.group;
      Bench_web.group;
      Bench_fib.group;
      Bench_scale.group;
      Bench_latency.group;
      Bench_threads.group;
      Bench_pipeline.group;
      Bench_workers.group;
      Bench_blocking.group;
      Bench_local.group;
      Bench_buffered.group;
      Bench_aio.group;
      Bench_policy.group;
    ]

let prepare effort asked (group : Case.group) =
  if group.name = Bench_fib.group.name then Bench_fib.prepare effort asked
  else group

let left_out =
  let missing name =
    name ^ " was not installed when this was built, so its rows are left out"
  in
  List.filter_map
    (fun (is_there, name) -> if is_there then None else Some (missing name))
    [
      (Worker.is_there Go, "Go");
      (Worker.is_there Node, "Node.js");
      (Worker.is_there Tokio, "Tokio");
      (Option.is_some Lwt_eio_bridge.run, "lwt_eio");
      (Option.is_some Caqti_query.queries, "caqti");
      (Worker.is_there Picos, "Picos");
      (Worker.is_there Async, "Async");
      (Visible.cohttp, "cohttp-lwt-unix");
      (Bench_web.has_wrk, "wrk");
    ]
