(* [styles]: it is in monadic styles too, under this name. *)
type named = { name : string; operation : Operation.refused; styles : bool }

let each ~styles name operations =
  List.map (fun operation -> { name; operation; styles }) operations

let named name event = each ~styles:true name (Event.operations event)
let direct name event = each ~styles:false name (Event.operations event)

let make () =
  let mvar = Mvar.create_empty () in
  let broadcast = Broadcast.create () in
  let subscription = Broadcast.subscribe broadcast in
  let rwlock = Rwlock.create () in
  let mutex = Mutex.create () in
  let condition = Condition.create () in
  List.concat
    [
      named "Mvar.take" (Mvar.take_evt mvar);
      named "Mvar.read" (Mvar.read_evt mvar);
      named "Mvar.put" (Mvar.put_evt mvar ());
      named "Mvar.swap" (Mvar.swap_evt mvar ());
      named "Mvar.modify" (Mvar.modify_evt mvar (fun v -> (v, ())));
      named "Promise.await" (Promise.await_evt (Promise.create ()));
      named "Channel.send" (Channel.send_evt (Channel.create ()) ());
      named "Channel.receive" (Channel.receive_evt (Channel.create ()));
      named "Stream.add" (Stream.add_evt (Stream.create 1) ());
      named "Stream.take" (Stream.take_evt (Stream.create 1));
      named "Mailbox.take" (Mailbox.take_evt (Mailbox.create ()));
      named "Broadcast.receive" (Broadcast.receive_evt subscription);
      named "Bvar.wait" (Bvar.wait_evt (Bvar.create ()));
      named "Mutex.lock" (Mutex.lock_evt mutex);
      named "Semaphore.Counting.acquire"
        (Semaphore.Counting.acquire_evt (Semaphore.Counting.make 0));
      named "Semaphore.Binary.acquire"
        (Semaphore.Binary.acquire_evt (Semaphore.Binary.make false));
      named "Rwlock.read_lock" (Rwlock.read_lock_evt rwlock);
      named "Rwlock.write_lock" (Rwlock.write_lock_evt rwlock);
      named "Latch.await" (Latch.await_evt (Latch.create 1));
      direct "Condition.wait" (Condition.wait_evt condition mutex);
      direct "Condition.wait_no_mutex" (Condition.wait_no_mutex_evt condition);
      direct "Condition.loop_no_mutex"
        (Condition.loop_no_mutex_evt condition (fun () -> None));
      each ~styles:false "Condition.loop_no_mutex"
        [ Refused (Place.waiting, ()) ];
      direct "Barrier.await" (Barrier.await_evt (Barrier.create 1));
      each ~styles:false "Lazy.force" [ Refused (Lazy.forcing, ()) ];
      direct "Lazy.await_evt" (Lazy.await_evt (Lazy.from_fun Fun.id));
      direct "Event.timeout" (Event.timeout 1.);
    ]

(* Made when something is refused or reported for the first time. Not a lazy value of
   Stdlib's: several threads may ask at once. *)
let all_ = Atomic.make []

let all () =
  match Atomic.get all_ with
  | [] ->
      let made = make () in
      Atomic.set all_ made;
      made
  | made -> made

(* Some operations are one, with different arguments; others are shared by structures. *)
let find ~same_arg wanted wanted_arg =
  let is_wanted = function
    | { operation = Refused_choice; _ } -> false
    | { operation = Refused (operation, arg); _ } ->
        Identity.equal operation wanted
        && ((not same_arg) || Identity.equal arg wanted_arg)
  in
  List.filter is_wanted (all ())

let find_both operation arg =
  match find ~same_arg:true operation arg with
  | [] -> find ~same_arg:false operation arg
  | found -> found

let name { name; _ } = name

(* The label tells structures apart that share an operation. *)
let of_kind kind names =
  match kind with
  | None -> names
  | Some kind -> (
      let prefix = String.capitalize_ascii kind ^ "." in
      match List.filter (String.starts_with ~prefix) names with
      | [] -> names
      | of_kind -> of_kind)

let operation ~kind (Waits.Place { operation; arg; _ } as place) =
  match Waits.name_of place with
  | Some name -> name
  | None ->
      String.concat " or "
        (of_kind kind (List.map name (find_both operation arg)))

let of_place (Waits.Place { structure; _ } as place) =
  let kind, details = Labels.kind_and_details structure in
  operation ~kind place ^ details

let select = "Event.select"

let refused () =
  match Atomic.get Operation.refused with
  | None -> []
  | Some Refused_choice -> [ select ]
  | Some (Refused (operation, arg)) ->
      find_both operation arg
      |> List.filter (fun { styles; _ } -> styles)
      |> List.map name

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
