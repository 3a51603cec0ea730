let () =
  let tally = Tally.create ~at_once:1 () in
  let threads =
    List.init 3 (fun _ ->
        Thread.create (fun () -> Tally.add tally Thread.yield) ())
  in
  Tally.await tally 3;
  List.iter Thread.join threads;
  Tally.close tally;
  Printf.printf "threads: %b\n" (Tally.closes_within 10. tally)
