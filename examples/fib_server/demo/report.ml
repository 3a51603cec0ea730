(* Prints the results as a table for people, and as JSON for programs. *)

type row = {
  variant : string;
  load : float;
  fib : Http_load.Load.result;
  ping : Http_load.Load.result;
  cores : float option;
}

let columns (r : Http_load.Load.result) =
  Printf.sprintf "%7.1f %7.1f %7.1f %7.1f" r.per_second (r.latency 0.5)
    (r.latency 0.9) (r.latency 0.99)

let print_table ~n rows =
  Printf.printf "%-15s|      | %-32s| %-32s| server\n" ""
    (Printf.sprintf "/fib/%d" n)
    "/ping";
  let names = "  per s     p50     p90     p99 " in
  Printf.printf "%-15s| load |%s|%s| cores\n" "latency in ms" (" " ^ names)
    (" " ^ names);
  List.iter
    (fun { variant; load; fib; ping; cores } ->
      Printf.printf "%-15s| %3.0f%% | %s | %s | %s\n" variant (100. *. load)
        (columns fib) (columns ping)
        (match cores with
        | Some c -> Printf.sprintf "%5.2f" c
        | None -> "    ?"))
    rows;
  List.iter
    (fun { variant; fib; ping; _ } ->
      let unanswered = fib.unanswered + ping.unanswered in
      if unanswered > 0 then
        Printf.printf
          "%s had not answered %d requests when the load ended. Each counts \
           with the time that it had waited.\n"
          variant unanswered;
      match fib.failures @ ping.failures with
      | [] -> ()
      | first :: _ as failures ->
          Printf.printf "%s failed %d requests: %s\n" variant
            (List.length failures) first)
    rows

let print_ratio rows =
  let p99 variant =
    List.find_opt (fun row -> row.variant = variant) rows
    |> Option.map (fun row -> row.ping.latency 0.99)
  in
  match (p99 "blocking", p99 "composed") with
  | Some blocking, Some composed ->
      Printf.printf
        "/ping p99, blocking to composed: %.1f ms to %.1f ms, %.0f times\n"
        blocking composed (blocking /. composed)
  | _ -> ()

let print_json rows =
  (* JSON has no notation for infinity and NaN. *)
  let number x =
    if Float.is_finite x then Printf.sprintf "%.3f" x else "null"
  in
  let json { variant; fib; ping; _ } =
    Printf.sprintf
      {|{"variant":"%s","throughput_rps":%s,"fib_p99_ms":%s,"ping_p50_ms":%s,"ping_p99_ms":%s}|}
      variant (number fib.per_second)
      (number (fib.latency 0.99))
      (number (ping.latency 0.5))
      (number (ping.latency 0.99))
  in
  Printf.printf "RESULT [%s]\n%!" (String.concat "," (List.map json rows))
