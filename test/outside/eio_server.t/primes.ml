(* A server in Eio. Clients send numbers, one on a line, and a pool of domains counts the
   primes below each. A line that says "statistics" is answered from data that all connections
   share. *)

open Concord
module Task = Domainslib.Task

let is_prime n =
  let rec from d = d * d > n || (n mod d <> 0 && from (d + 1)) in
  n > 1 && from 2

let primes_below pool n =
  Task.parallel_for_reduce pool ~start:0 ~finish:(n - 1)
    ~body:(fun i -> Bool.to_int (is_prime i))
    ( + ) 0

type shared = {
  pool : Task.pool;
  permits : Semaphore.Counting.t;  (** How many requests compute at once. *)
  asked : int Mvar.t;
  greeting : string Lazy.t;  (** The pool computes it when the first connection needs it. *)
}

let with_permit { permits; _ } f =
  Semaphore.Counting.acquire permits;
  Fun.protect f ~finally:(fun () -> Semaphore.Counting.release permits)

let answer shared line =
  Mvar.modify shared.asked (fun n -> (n + 1, ()));
  match int_of_string_opt line with
  | None when line = "statistics" ->
      Printf.sprintf "%s: %d requests"
        (Lazy.force shared.greeting)
        (Mvar.read shared.asked)
  | None -> "not a number"
  | Some n when n > 1_000_000 -> "too large"
  | Some n -> (
      let count =
        with_permit shared (fun () ->
            Event.sync_before 10.
              (Promise.await_evt
                 (Concord_domainslib.submit shared.pool (fun () ->
                      primes_below shared.pool n))))
      in
      match count with
      | Some count -> string_of_int count
      | None -> "it takes too long")

let serve shared flow _address =
  let lines = Eio.Buf_read.of_flow flow ~max_size:1_000 in
  Seq.iter
    (fun line -> Eio.Flow.copy_string (answer shared line ^ "\n") flow)
    (Eio.Buf_read.lines lines)

(* --- The clients ------------------------------------------------------------- *)

let ask net address questions =
  Eio.Switch.run @@ fun sw ->
  let flow = Eio.Net.connect ~sw net address in
  List.iter (fun q -> Eio.Flow.copy_string (q ^ "\n") flow) questions;
  Eio.Flow.shutdown flow `Send;
  List.of_seq (Eio.Buf_read.lines (Eio.Buf_read.of_flow flow ~max_size:1_000))

let () =
  let pool = Task.setup_pool ~num_domains:1 () in
  Concord_domainslib.attach pool;
  Fun.protect ~finally:(fun () -> Task.teardown_pool pool) @@ fun () ->
  Eio_main.run @@ fun env ->
  Eio.Switch.run @@ fun sw ->
  let net = Eio.Stdenv.net env in
  let shared =
    {
      pool;
      permits = Semaphore.Counting.make 2;
      asked = Mvar.create 0;
      greeting =
        Lazy.from_fun (fun () ->
            Promise.await (Concord_domainslib.submit pool (fun () -> "primes")));
    }
  in
  let socket =
    Eio.Net.listen net ~sw ~backlog:10 (`Tcp (Eio.Net.Ipaddr.V4.loopback, 0))
  in
  let address = Eio.Net.listening_addr socket in
  let stop = Promise.create () in
  Eio.Fiber.fork ~sw (fun () ->
      Eio.Fiber.first
        (fun () -> Promise.await stop)
        (fun () -> Eio.Net.run_server socket (serve shared) ~on_error:raise));
  let answers =
    Tasks.all
      (List.map
         (fun questions () -> ask net address questions)
         [ [ "10"; "100000" ]; [ "100"; "many" ]; [ "1000"; "2000000" ] ])
  in
  List.iter (fun answers -> print_endline (String.concat ", " answers)) answers;
  List.iter print_endline (ask net address [ "statistics" ]);
  Promise.fill stop ();
  print_endline "stopped"
