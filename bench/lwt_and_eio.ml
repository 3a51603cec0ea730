(* This number of operations is done before the clock is read. By then both domains run, and
   their loops are in step. *)
let meeting = 1_000

let produce_lwt put n =
  let last = ref 0 in
  Host.lwt_times n (fun () ->
      incr last;
      put !last)

let consume_lwt take n =
  let sum = ref 0 in
  let add i = sum := !sum + i in
  Lwt.map
    (fun () -> Host.check_sum n !sum)
    (Host.lwt_times n (fun () -> Lwt.map add (take ())))

let produce put n =
  for i = 1 to n do
    put i
  done

let consume take n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + take ()
  done;
  Host.check_sum n !sum

let between_with ~set_up ~tear_down ~eio ~lwt n =
  let ended, end_ = Lwt.wait () in
  let notification = Lwt_unix.make_notification ~once:true (Lwt.wakeup end_) in
  let ends = Concord.Promise.create () in
  let other =
    Domain.spawn (fun () ->
        Eio_main.run (fun _ ->
            Eio.Switch.run (fun sw ->
                let for_eio, for_lwt = set_up sw in
                Concord.Promise.fill ends for_lwt;
                let eio = eio for_eio in
                eio meeting;
                eio n));
        Lwt_unix.send_notification notification)
  in
  let for_lwt = Concord.Promise.await ends in
  let lwt = lwt for_lwt in
  Lwt_main.run (lwt meeting);
  let start = Meter.now () in
  Lwt_main.run (lwt n);
  let ns = Meter.ns_since start in
  (* The other domain may still need Lwt's loop for the last messages. *)
  Lwt_main.run ended;
  Lwt_main.run (tear_down for_lwt);
  Domain.join other;
  ns

let between ~eio ~lwt =
  between_with
    ~set_up:(fun _ -> ((), ()))
    ~tear_down:Lwt.return
    ~eio:(fun () -> eio)
    ~lwt:(fun () -> lwt)
