type named = Named : string * ('t, 'x, 'a) Operation.t * 'x -> named | Unnamed

let rec named : type a. string -> a Event.t -> named =
 fun name event ->
  match Event.simple event with
  | Some (Simple { operation; arg; _ }) -> Named (name, operation, arg)
  | Some (Then (event, _)) -> named name event
  | None -> Unnamed

(* Made when something is refused for the first time. *)
let all =
  lazy
    (let mvar = Mvar.create_empty () in
     let subscription = Broadcast.subscribe (Broadcast.create ()) in
     let rwlock = Rwlock.create () in
     [
       named "Mvar.take" (Mvar.take_evt mvar);
       named "Mvar.read" (Mvar.read_evt mvar);
       named "Mvar.put" (Mvar.put_evt mvar ());
       named "Mvar.swap" (Mvar.swap_evt mvar ());
       named "Promise.await" (Promise.await_evt (Promise.create ()));
       named "Channel.send" (Channel.send_evt (Channel.create ()) ());
       named "Channel.receive" (Channel.receive_evt (Channel.create ()));
       named "Stream.add" (Stream.add_evt (Stream.create 1) ());
       named "Stream.take" (Stream.take_evt (Stream.create 1));
       named "Mailbox.take" (Mailbox.take_evt (Mailbox.create ()));
       named "Broadcast.receive" (Broadcast.receive_evt subscription);
       named "Bvar.wait" (Bvar.wait_evt (Bvar.create ()));
       named "Mutex.lock" (Mutex.lock_evt (Mutex.create ()));
       named "Semaphore.Counting.acquire"
         (Semaphore.Counting.acquire_evt (Semaphore.Counting.make 0));
       named "Semaphore.Binary.acquire"
         (Semaphore.Binary.acquire_evt (Semaphore.Binary.make false));
       named "Rwlock.read_lock" (Rwlock.read_lock_evt rwlock);
       named "Rwlock.write_lock" (Rwlock.write_lock_evt rwlock);
       named "Latch.await" (Latch.await_evt (Latch.create 1));
     ])

(* Some operations are one, with different arguments; others are shared by structures. *)
let find ~same_arg refused refused_arg =
  List.filter_map
    (function
      | Named (name, operation, arg)
        when Identity.equal operation refused
             && ((not same_arg) || Identity.equal arg refused_arg) ->
          Some name
      | Named _ | Unnamed -> None)
    (Stdlib.Lazy.force all)

let select = "Event.select"

let refused () =
  match Atomic.get Operation.refused with
  | None -> []
  | Some Refused_choice -> [ select ]
  | Some (Refused (operation, arg)) -> (
      match find ~same_arg:true operation arg with
      | [] -> find ~same_arg:false operation arg
      | found -> found)

(* Each style has it beside its structures. *)
let in_style style name = style ^ "." ^ if name = select then "select" else name

let advice style =
  match refused () with
  | [] -> ""
  | names ->
      let all names = String.concat " or " names in
      Printf.sprintf ". The operation that was refused last is %s: use %s"
        (all names)
        (all (List.map (in_style style) names))
