(* The prime sieve as a chain of threads over channels, each of which filters. *)

let spawn f = ignore (Thread.create f () : Thread.t)

let counter () =
  let channel = Event.new_channel () in
  let rec count n =
    Event.sync (Event.send channel n);
    count (n + 1)
  in
  spawn (fun () -> count 2);
  channel

let filter p input =
  let output = Event.new_channel () in
  let rec loop () =
    let n = Event.sync (Event.receive input) in
    if n mod p <> 0 then Event.sync (Event.send output n);
    loop ()
  in
  spawn loop;
  output

let rec primes n channel =
  if n > 0 then begin
    let p = Event.sync (Event.receive channel) in
    Printf.printf "%d\n" p;
    primes (n - 1) (filter p channel)
  end

(* The filters never end, so the program has to end itself. *)
let () =
  primes 30 (counter ());
  flush stdout;
  Unix._exit 0
