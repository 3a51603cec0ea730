open Case

(* A task that begins and ends, as the latch of a server counts tasks. The latch stays shut.
   Eio, Lwt and Stdlib have no latch, and Go has a WaitGroup. *)
let up_and_down latch n =
  for _ = 1 to n do
    Concord.Latch.count_up latch;
    Concord.Latch.count_down latch
  done

let count_free =
  let case = "latch-count-free" in
  {
    title =
      "counting a latch up and down again that nobody else uses, 1 domain (go: \
       a WaitGroup)";
    baseline = go case;
    others =
      Ours.rows ~case Ours.one_task (fun host n ->
          Host.alone host (up_and_down (Concord.Latch.create 1)) n);
  }

let count_parallel =
  let case = "latch-count-parallel" in
  {
    title =
      "counting one latch up and down in a loop, by one task on each of 2 \
       domains (go: a WaitGroup)";
    baseline = go case;
    others =
      Ours.rows ~case Ours.two_domains (fun host n ->
          Host.both host (up_and_down (Concord.Latch.create 1)) n);
  }

let comparisons = beside [ count_free ] @ [ count_parallel ]
