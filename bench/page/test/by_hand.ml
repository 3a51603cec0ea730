open Bench_page.Results

let row ?(case = "case") ?(unit_ = "ns") ?(comparison = 0) impl host samples =
  {
    group = "group";
    case;
    impl;
    host;
    title = "";
    comparison = Some comparison;
    is_baseline = false;
    unit_;
    more_is_better = unit_ = "req/s";
    samples = Array.of_list samples;
    offered = [||];
  }

let run rows =
  {
    machine = "";
    date = "";
    command = "";
    effort = "";
    versions = [];
    left_out = [];
    rows;
  }
