(* Threads of each style take from boxes and queues that another domain fills. Meanwhile their
   set is stopped, fails, and is started again at random. Each value arrives once. *)

open Concord
open Concord_test_support.Race

exception Fails

module Make (S : Styles_cases.Style.S) = struct
  open S

  let storm ~index ~total () =
    let rng = random index in
    let box = Mvar.create_empty () and queue = Mailbox.create () in
    let seen = Array.init total (fun _ -> Atomic.make 0) in
    let count = Atomic.make 0 and sets = ref 0 in
    let record i =
      Atomic.incr seen.(i);
      if Atomic.fetch_and_add count 1 + 1 = total then `Last else `Not_yet
    in
    let either = Event.choose [ Mvar.take_evt box; Mailbox.take_evt queue ] in
    let in_time =
      Event.choose
        [
          Event.wrap either Option.some;
          Event.wrap (Event.timeout 0.0005) (fun () -> None);
        ]
    in
    (* Light threads could share [rng] without a lock, but the threads of Threads use it at the
       same time. *)
    let mutex = Stdlib.Mutex.create () in
    let at_random n =
      Stdlib.Mutex.protect mutex (fun () -> Random.State.int rng n)
    in
    let next kind =
      let some t =
        let* i = t in
        return (Some i)
      in
      match kind mod 5 with
      | 0 -> some (take box)
      | 1 -> some (take_fifo queue)
      | 2 -> some (sync either)
      | 3 -> sync in_time
      | _ -> some (direct (fun () -> Event.sync either))
    in
    let rec reader kind () =
      let* i = next kind in
      match i with
      | None -> reader kind ()
      | Some i -> (
          match record i with
          | `Last -> stop ()
          | `Not_yet -> (
              match at_random 200 with
              | 0 -> stop ()
              | 1 -> raise Fails
              | 2 ->
                  spawn (reader (kind + 1));
                  halt ()
              | 3 ->
                  let* () = yield () in
                  reader kind ()
              | _ -> reader kind ()))
    in
    let fill () =
      let rng = random (1000 + index) in
      for i = 0 to total - 1 do
        if Random.State.bool rng then Mvar.put box i else Mailbox.add queue i;
        if Random.State.int rng 20 = 0 then Concord.Tasks.yield ()
      done
    in
    let filler = Domain.spawn fill in
    while Atomic.get count < total do
      incr sets;
      for kind = 0 to 9 do
        spawn (reader kind)
      done;
      match start () with () -> () | exception Fails -> ()
    done;
    Domain.join filler;
    Array.iteri
      (fun i n ->
        if Atomic.get n <> 1 then
          fail "%s: %d arrived %d times" name i (Atomic.get n))
      seen;
    if Mvar.waiters box > 0 || Mailbox.waiters queue > 0 then
      fail "%s: a task waits" name;
    Printf.printf "%s: %d values, %d sets\n%!" name total !sets
end

let () =
  watchdog ~seconds:(if long then 600. else 100.);
  let times = if long then 20 else 1 in
  let styles = drawn (List.mapi (fun i s -> (i, s)) Styles_cases.Style.all) in
  for round = 1 to times do
    List.iter
      (fun (i, (module S : Styles_cases.Style.S)) ->
        let module Storm = Make (S) in
        let total = if S.is_light then 20_000 else 4_000 in
        Storm.storm ~index:((10 * round) + i) ~total ())
      styles
  done
