(* The owner of a descriptor, over a kernel that reuses a number as soon as its file was
   closed. Tasks use the number, close it and watch it. During one use, a task must see the
   same file from beginning to end. *)

open Actor

let fd = 2

(* A file is represented by its number, which is what can be read from it. *)
let file () =
  Unix.call (fun kernel ->
      Option.value (Hashtbl.find_opt kernel.bytes fd) ~default:0)

(* Succeeds if the number is free. *)
let open_ n =
  Unix.call @@ fun kernel ->
  if Hashtbl.mem kernel.bytes fd then false
  else begin
    Hashtbl.replace kernel.bytes fd n;
    true
  end

let wait closed = ignore (Promise.await closed : exn option)

let or_closed f =
  match f () with
  | result -> result
  | exception Unix.Unix_error (EBADF, _, _) -> "closed"

let uses owner =
  let first, second =
    Owner.using "use" owner (fun () ->
        let first = file () in
        (first, file ()))
  in
  (* 0: the number belonged to no file *)
  if first <> 0 && first <> second then
    failwith "the number was another file's meanwhile";
  string_of_int first

(* --- What the tasks do ------------------------------------------------------ *)

let use () =
  or_closed @@ fun () ->
  let owner = Owner.find ~wait "use" fd in
  let result = or_closed (fun () -> uses owner) in
  Owner.leave owner;
  result

(* While a task refers to the owner, it sees the same file. *)
let use_twice () =
  or_closed @@ fun () ->
  let owner = Owner.find ~wait "use" fd in
  let first = or_closed (fun () -> uses owner) in
  let second = or_closed (fun () -> uses owner) in
  Owner.leave owner;
  if first <> "0" && second <> "closed" && first <> second then
    failwith "another file, with the same owner";
  first ^ second

let close () =
  or_closed @@ fun () ->
  let owner = Owner.find ~wait "close" fd in
  let closed = Owner.close owner in
  Option.iter wait closed;
  Owner.leave owner;
  if closed = None then "second" else "first"

(* Like a channel that referred to the owner before. *)
let use_of owner () = or_closed (fun () -> uses owner)

(* Like a poller, which stops watching when the owner asks it to. *)
let watch () =
  or_closed @@ fun () ->
  let owner = Owner.find ~wait "watch" fd in
  let told = Atomic.make false and file_then = Atomic.make 0 in
  let rec watcher = { Owner.forget }
  and forget owner =
    if not (Atomic.exchange told true) then begin
      let before = Atomic.get file_then in
      if before <> 0 && file () <> before then
        failwith "given back while it is watched";
      Owner.unwatch owner watcher
    end
  in
  let watches = Owner.watch owner watcher in
  let now = file () in
  if watches && not (Atomic.get told) then Atomic.set file_then now;
  Owner.leave owner;
  if watches then "watches" else "too late"

let reopen () = if open_ 2 then "opened" else "in use"

let abandon owner () =
  Owner.abandon owner;
  "abandoned"

(* --- At rest ---------------------------------------------------------------- *)

let check name ?(referred = false) processes expect =
  Model.check name ~expect @@ fun () ->
  Unix.start ();
  Atomic.set Owner.table (Array.init 4 (fun _ -> Atomic.make None));
  ignore (open_ 1 : bool);
  let owner = if referred then Some (Owner.find ~wait "model" fd) else None in
  let actors =
    List.map (fun (name, work) -> make name (work owner)) processes
  in
  let outcome () =
    if count_waiting actors > 0 then failwith "a task waits forever";
    begin match Atomic.get (Atomic.get Owner.table).(fd) with
    | None -> ()
    | Some owner ->
        let state = Atomic.get owner.state in
        if state = Owner.gone then
          failwith "a finished owner is still in the table";
        if Owner.is_closing owner then
          failwith "a closed owner is still in the table";
        if Owner.uses state <> List.length (Atomic.get owner.watchers) then
          failwith "a use has no end";
        let references = if referred then 1 else 0 in
        if state / Owner.reference <> references then
          failwith "a reference has no end"
    end;
    describe actors ^ Printf.sprintf " file=%d" (file ())
  in
  (List.map (fun actor () -> run actor) actors, outcome)

let ( => ) name f = (name, fun _ -> f)
let with_owner name f = (name, fun owner -> f (Option.get owner))

let () =
  check "one uses, one closes"
    [ "u" => use; "c" => close ]
    [ "u=0 c=first file=0"; "u=1 c=first file=0"; "u=closed c=first file=0" ];
  check "one uses twice, one closes, one opens"
    [ "u" => use_twice; "c" => close; "o" => reopen ]
    [
      "u=00 c=first o=in use file=0";
      "u=00 c=first o=opened file=2";
      "u=02 c=first o=opened file=2";
      "u=11 c=first o=in use file=0";
      "u=11 c=first o=opened file=2";
      "u=1closed c=first o=in use file=0";
      "u=1closed c=first o=opened file=2";
      "u=22 c=first o=opened file=2";
      "u=closedclosed c=first o=in use file=0";
      "u=closedclosed c=first o=opened file=2";
    ];
  check "two close, one opens"
    [ "c" => close; "d" => close; "o" => reopen ]
    [
      "c=first d=first o=in use file=0";
      "c=first d=first o=opened file=0";
      "c=first d=first o=opened file=2";
      "c=first d=second o=in use file=0";
      "c=first d=second o=opened file=2";
      "c=second d=first o=in use file=0";
      "c=second d=first o=opened file=2";
    ];
  check "one closes, a channel uses, one opens" ~referred:true
    [ "c" => close; with_owner "u" use_of; "o" => reopen ]
    [
      "c=first u=1 o=in use file=0";
      "c=first u=1 o=opened file=2";
      "c=first u=closed o=in use file=0";
      "c=first u=closed o=opened file=2";
    ];
  check "one watches, one closes, one opens"
    [ "w" => watch; "c" => close; "o" => reopen ]
    [
      "w=too late c=first o=in use file=0";
      "w=too late c=first o=opened file=2";
      "w=watches c=first o=in use file=0";
      "w=watches c=first o=opened file=2";
    ];
  check "two use" [ "u" => use; "v" => use ] [ "u=1 v=1 file=1" ];
  check "one is abandoned, one uses" ~referred:true
    [ with_owner "a" abandon; "u" => use; with_owner "v" use_of ]
    [
      "a=abandoned u=1 v=1 file=1";
      "a=abandoned u=1 v=closed file=1";
      "a=abandoned u=closed v=1 file=1";
      "a=abandoned u=closed v=closed file=1";
    ];
  Model.finish ()
