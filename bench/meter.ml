type instant = int64

let now = Mtime_clock.now_ns
let ns_since start = Int64.to_float (Int64.sub (Mtime_clock.now_ns ()) start)

let resident_bytes () =
  let vm_rss line = Scanf.sscanf_opt line "VmRSS: %f kB" (fun kb -> kb) in
  In_channel.with_open_text "/proc/self/status" In_channel.input_lines
  |> List.find_map vm_rss |> Option.get |> ( *. ) 1024.
