type instant = int64

let now = Mtime_clock.now_ns
let ns_since start = Int64.to_float (Int64.sub (Mtime_clock.now_ns ()) start)

let status pattern =
  let kilobytes line = Scanf.sscanf_opt line pattern Fun.id in
  In_channel.with_open_text "/proc/self/status" In_channel.input_lines
  |> List.find_map kilobytes |> Option.get |> ( *. ) 1024.

let resident_bytes () = status "VmRSS: %f kB"
let peak_resident_bytes () = status "VmHWM: %f kB"

(* The kernel's code for resetting the peak, see proc_pid_clear_refs(5). *)
let reset_peak () =
  Out_channel.with_open_text "/proc/self/clear_refs" (fun channel ->
      output_string channel "5")
