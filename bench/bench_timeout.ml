open Case

let long_s = 10.

let pending_concord host n =
  let box = Concord.Mvar.create_empty () in
  Host.serial host ~produce:(Passing.put box)
    ~consume:(Passing.take_before long_s box)
    n

(* Runs [f] with a host and with the timeouts of this host's clock. *)
let in_eio f =
  Eio_main.run (fun env ->
      let run g =
        Eio.Switch.run (fun sw -> g (fun task -> Eio.Fiber.fork ~sw task))
      in
      f { Host.run } (Eio.Time.Timeout.seconds (Eio.Stdenv.mono_clock env)))

let pending_eio n =
  let stream = Eio.Stream.create 1 in
  let produce n =
    for i = 1 to n do
      Eio.Stream.add stream i
    done
  in
  let take () = Eio.Stream.take stream in
  in_eio (fun host timeout ->
      let consume n =
        let sum = ref 0 in
        for _ = 1 to n do
          sum := !sum + Eio.Time.Timeout.run_exn (timeout long_s) take
        done;
        !sum
      in
      Host.serial host ~produce ~consume n)

let pending_lwt n =
  let box = Lwt_mvar.create_empty () in
  let produce n =
    let last = ref 0 in
    Host.lwt_times n (fun () ->
        incr last;
        Lwt_mvar.put box !last)
  in
  let timeout () = Lwt.bind (Lwt_unix.sleep long_s) (fun () -> assert false) in
  let consume n =
    let sum = ref 0 in
    let add i = sum := !sum + i in
    Lwt.map
      (fun () -> !sum)
      (Host.lwt_times n (fun () ->
           Lwt.map add (Lwt.pick [ Lwt_mvar.take box; timeout () ])))
  in
  Host.serial_lwt ~produce ~consume n

let timeout_pending =
  let case = "timeout-pending" in
  {
    title =
      Printf.sprintf
        "one message, received with a timeout of %.0f s that never passes, two \
         tasks on 1 domain"
        long_s;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time pending_eio);
    others =
      Ours.rows ~case Ours.two_tasks pending_concord
      @ [ row ~case ~impl:"lwt" ~host:"lwt" (Time pending_lwt); go case ];
  }

(* --- Around a function --- *)

let times f n =
  for _ = 1 to n do
    f ()
  done

let function_concord within (host, yield) n =
  let call () = Passing.in_time (within long_s yield) in
  Host.alone host (times call) n

let function_eio n =
  in_eio (fun host timeout ->
      let call () = Eio.Time.Timeout.run_exn (timeout long_s) Eio.Fiber.yield in
      Host.alone host (times call) n)

let function_lwt =
  Host.alone_lwt (fun () -> Lwt_unix.with_timeout long_s Lwt.pause)

let timeout_function =
  let case = "timeout-function" in
  {
    title =
      Printf.sprintf
        "a function that yields, with a timeout (concord) or a deadline \
         (concord-deadline) of %.0f s that never passes, 1 domain"
        long_s;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time function_eio);
    others =
      Ours.rows ~case Ours.yielding
        (function_concord Concord.Tasks.with_timeout)
      @ Ours.rows ~impl:"concord-deadline" ~case Ours.yielding
          (function_concord Concord.Tasks.with_deadline)
      @ [ row ~case ~impl:"lwt" ~host:"lwt" (Time function_lwt) ];
  }

(* --- Attempts --- *)

let attempts =
  let case = "attempts" in
  let rows impl call =
    Ours.rows ~impl ~case Ours.yielding (fun (host, yield) ->
        Host.alone host (times (fun () -> call yield)))
  in
  let bare attempt = attempt ()
  and retry attempt = Concord.Tasks.retry attempt
  and hedge attempt = Concord.Tasks.hedge [ attempt; attempt ] in
  let all =
    rows "bare" bare @ rows "concord-retry" retry @ rows "concord-hedge" hedge
  in
  {
    title =
      "a function that yields and succeeds, called (bare), tried again if it \
       fails (concord-retry), and with another one in reserve (concord-hedge), \
       1 domain";
    baseline = List.hd all;
    others = List.tl all;
  }

(* --- Many --- *)

let waiters = 100_000
let very_long_s = 60.

(* All timeouts together may use one thread of Concord. For threads, OCaml starts one more. *)
let more_threads = 2

(* Measures by how much the process grows for these tasks, and scales that to [n] tasks. *)
let timeouts host ~wait ~wake n =
  let threads () = Array.length (Sys.readdir "/proc/self/task") in
  let before = ref 0 and tasks = min n waiters in
  let wait () =
    if !before = 0 then before := threads ();
    wait ()
  in
  let wake () =
    if threads () > !before + more_threads then
      failwith "each timeout has a thread, but all timeouts should share one";
    for _ = 1 to tasks do
      wake ()
    done
  in
  Host.growth host ~wait ~wake tasks *. float_of_int n /. float_of_int tasks

let timeouts_concord host n =
  let box = Concord.Mvar.create_empty () in
  let wait () = Passing.before very_long_s (Concord.Mvar.take_evt box) in
  timeouts host ~wait ~wake:(fun () -> Concord.Mvar.put box ()) n

let timeouts_eio n =
  let stream = Eio.Stream.create 1 in
  in_eio (fun host timeout ->
      let wait () =
        Eio.Time.Timeout.run_exn (timeout very_long_s) (fun () ->
            Eio.Stream.take stream)
      in
      timeouts host ~wait ~wake:(fun () -> Eio.Stream.add stream ()) n)

let timeouts_100000 =
  let case = Printf.sprintf "timeouts-%d" waiters in
  {
    title =
      Printf.sprintf
        "resident bytes of a task that waits to take from an empty box, for \
         %.0f s at most, among %d, 1 domain"
        very_long_s waiters;
    baseline = row ~case ~impl:"eio" ~host:"eio" (resident timeouts_eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo"
          (resident (timeouts_concord Host.fifo));
        row ~case ~impl:"concord" ~host:"eio"
          (resident (timeouts_concord Host.eio));
        go_resident case;
      ];
  }

let comparisons =
  beside [ timeout_pending; timeout_function; attempts ] @ [ timeouts_100000 ]
