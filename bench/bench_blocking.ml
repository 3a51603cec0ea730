open Case

(* Lwt's own threads are started before the clock is read. *)
let times call n =
  for _ = 1 to n do
    call ()
  done

let concord () = Concord.Blocking.run ignore
let in_thread () = Concord.Promise.(await (in_thread ignore))
let systhread () = Eio_unix.run_in_systhread ignore

let on (host : Host.t) ~callers call n =
  let each = Int.max 1 (n / callers) in
  host.run (fun fork ->
      times call 10;
      let left = Concord.Latch.create callers in
      let start = Meter.now () in
      for _ = 1 to callers do
        fork (fun () ->
            times call each;
            Concord.Latch.count_down left)
      done;
      Concord.Latch.await left;
      Meter.ns_since start *. float_of_int n /. float_of_int (callers * each))

let in_lwt ~callers call n =
  let each = Int.max 1 (n / callers) in
  let all n = Lwt.join (List.init callers (fun _ -> Host.lwt_times n call)) in
  Lwt_main.run
    (Lwt.bind (all 10) (fun () ->
         let start = Meter.now () in
         Lwt.map
           (fun () ->
             Meter.ns_since start *. float_of_int n
             /. float_of_int (callers * each))
           (all each)))

let detach () = Lwt_preemptive.detach ignore ()
let direct () = Concord_lwt.direct concord

let comparison case ~callers title =
  let row impl host f = row ~case ~impl ~host (Time f) in
  {
    title;
    baseline = row "lwt" "detach" (in_lwt ~callers detach);
    others =
      [
        row "concord" "lwt" (in_lwt ~callers direct);
        row "eio" "systhread" (on Host.eio ~callers systhread);
        row "concord" "eio" (on Host.eio ~callers concord);
        row "concord" "fifo" (on Host.fifo ~callers concord);
        row "concord" "fifo+thread" (on Host.fifo ~callers in_thread);
      ];
  }

let group =
  {
    name = "blocking";
    doc = "blocking calls, against Lwt_preemptive and Eio's system threads";
    comparisons =
      [
        comparison "blocking-one" ~callers:1
          "a call that does nothing, in a thread of a pool, by one task";
        comparison "blocking-many" ~callers:16
          "a call that does nothing, in a thread of a pool, by 16 tasks";
      ];
  }
