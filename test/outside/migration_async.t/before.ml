open Core
open Async

let main () =
  let box = Mvar.create () in
  let put n = Mvar.put box n in
  let rec sum total k =
    if k = 0 then return total
    else Mvar.take box >>= fun n -> sum (total + n) (k - 1)
  in
  Deferred.both
    (Deferred.List.iter ~how:`Sequential [ 1; 2; 3 ] ~f:put)
    (sum 0 3)
  >>= fun ((), total) ->
  printf "sum %d\n" total;
  let reader, writer = Pipe.create () in
  let read = Pipe.iter_without_pushback reader ~f:(printf "line %s\n") in
  List.iter [ "one"; "two" ] ~f:(Pipe.write_without_pushback writer);
  Pipe.close writer;
  read >>= fun () ->
  let answer = Ivar.create () in
  Ivar.fill_exn answer 42;
  Ivar.read answer >>= fun n ->
  printf "answer %d\n" n;
  Clock.with_timeout (Time_float.Span.of_ms 10.) (Mvar.take box) >>= fun late ->
  (match late with
  | `Timeout -> printf "too late\n"
  | `Result (_ : int) -> printf "impossible\n");
  let permits =
    Throttle.create ~continue_on_error:true ~max_concurrent_jobs:2
  in
  Throttle.enqueue permits (fun () -> return 2) >>| fun n ->
  printf "permit %d\n" n

let () =
  upon (main ()) (fun () -> shutdown 0);
  never_returns (Scheduler.go ())
