open Case

(* A producer and a consumer of numbers alternate. Each of them waits, by a condition, until
   the other one has run. *)

let empty = 0

let produce_concord (mutex, condition, slot) n =
  for i = 1 to n do
    Concord.Mutex.lock mutex;
    while !slot <> empty do
      Concord.Condition.wait condition mutex
    done;
    slot := i;
    Concord.Condition.signal condition;
    Concord.Mutex.unlock mutex
  done

let consume_concord (mutex, condition, slot) n =
  let sum = ref 0 in
  for _ = 1 to n do
    Concord.Mutex.lock mutex;
    while !slot = empty do
      Concord.Condition.wait condition mutex
    done;
    sum := !sum + !slot;
    slot := empty;
    Concord.Condition.signal condition;
    Concord.Mutex.unlock mutex
  done;
  !sum

let condition_concord (shape : Host.shape) n =
  let t = (Concord.Mutex.create (), Concord.Condition.create (), ref empty) in
  shape ~produce:(produce_concord t) ~consume:(consume_concord t) n

let produce_eio (mutex, condition, slot) n =
  for i = 1 to n do
    Eio.Mutex.lock mutex;
    while !slot <> empty do
      Eio.Condition.await condition mutex
    done;
    slot := i;
    Eio.Condition.broadcast condition;
    Eio.Mutex.unlock mutex
  done

let consume_eio (mutex, condition, slot) n =
  let sum = ref 0 in
  for _ = 1 to n do
    Eio.Mutex.lock mutex;
    while !slot = empty do
      Eio.Condition.await condition mutex
    done;
    sum := !sum + !slot;
    slot := empty;
    Eio.Condition.broadcast condition;
    Eio.Mutex.unlock mutex
  done;
  !sum

let condition_eio (shape : Host.shape) n =
  let t = (Eio.Mutex.create (), Eio.Condition.create (), ref empty) in
  shape ~produce:(produce_eio t) ~consume:(consume_eio t) n

let produce_stdlib (mutex, condition, slot) n =
  for i = 1 to n do
    Mutex.lock mutex;
    while !slot <> empty do
      Condition.wait condition mutex
    done;
    slot := i;
    Condition.signal condition;
    Mutex.unlock mutex
  done

let consume_stdlib (mutex, condition, slot) n =
  let sum = ref 0 in
  for _ = 1 to n do
    Mutex.lock mutex;
    while !slot = empty do
      Condition.wait condition mutex
    done;
    sum := !sum + !slot;
    slot := empty;
    Condition.signal condition;
    Mutex.unlock mutex
  done;
  !sum

let condition_stdlib (shape : Host.shape) n =
  let t = (Mutex.create (), Condition.create (), ref empty) in
  shape ~produce:(produce_stdlib t) ~consume:(consume_stdlib t) n

let condition_lwt n =
  let mutex = Lwt_mutex.create () and condition = Lwt_condition.create () in
  let slot = ref empty in
  let open Lwt.Syntax in
  let rec wait_while holds =
    if holds () then
      let* () = Lwt_condition.wait ~mutex condition in
      wait_while holds
    else Lwt.return_unit
  in
  let is_full () = !slot <> empty and is_empty () = !slot = empty in
  let leave () =
    Lwt_condition.signal condition ();
    Lwt_mutex.unlock mutex;
    Lwt.return_unit
  in
  let produce n =
    let left = ref n in
    Host.lwt_times n (fun () ->
        let* () = Lwt_mutex.lock mutex in
        let* () = wait_while is_full in
        slot := !left;
        decr left;
        leave ())
  in
  let consume n =
    let sum = ref 0 in
    let* () =
      Host.lwt_times n (fun () ->
          let* () = Lwt_mutex.lock mutex in
          let* () = wait_while is_empty in
          sum := !sum + !slot;
          slot := empty;
          leave ())
    in
    Lwt.return !sum
  in
  Host.serial_lwt ~produce ~consume n

let condition_signal =
  let case = "condition-signal" in
  {
    title =
      "one number handed over under a mutex and a condition, two tasks on 1 \
       domain (Eio's condition only broadcasts)";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (condition_eio (Host.serial Host.eio)));
    others =
      Ours.rows ~case Ours.two_tasks (fun host ->
          condition_concord (Host.serial host))
      @ Ours.beside_stdlib ~case
          (fun host -> condition_concord (Host.serial host))
          (condition_stdlib (Host.serial Host.thread))
      @ [
          row ~case ~impl:"lwt" ~host:"lwt" (Time condition_lwt);
          go case;
          picos case elsewhere;
        ];
  }

let condition_parallel =
  let case = "condition-parallel" in
  {
    title = "the same, one task on each of 2 domains";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (condition_eio (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          condition_concord (Host.parallel host))
      @ [
          row ~case ~impl:"stdlib" ~host:"domain"
            (Time (condition_stdlib (Host.parallel Host.domain)));
          go case;
          picos case elsewhere;
        ];
  }

let comparisons = beside [ condition_signal ] @ [ condition_parallel ]
