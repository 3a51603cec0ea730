(* The inbox of the hosts' kit, with a loop that works, goes to sleep or sleeps.
   Nothing that was posted is lost, served twice or out of order, and a loop that
   sleeps was rung once. *)

open Actor

type process = Loop | Post of string list | Ring | Further of string

(* The loop has a further queue, which another thread of its domain fills and then
   rings for. *)
let check name ?(asleep = false) processes expect =
  Model.check name ~expect @@ fun () ->
  let inbox = Inbox.create () in
  let further = Atomic.make [] in
  let served = ref [] and rung = ref 0 and slept = ref 0 in
  let serve message = served := message :: !served in
  let serve_further () =
    match Atomic.exchange further [] with
    | [] -> false
    | messages ->
        List.iter serve messages;
        true
  in
  let block resumer =
    let bell () =
      incr rung;
      if not (resumer (Ok ())) then failwith "rung twice"
    in
    if not (Inbox.sleep inbox bell) then Some ()
    else begin
      incr slept;
      if Atomic.get further = [] then None
      else if Inbox.wake inbox then begin
        decr slept;
        Some ()
      end
      else None
    end
  in
  let rec go () =
    let some = Inbox.serve inbox serve in
    if serve_further () || some then go ()
    else begin
      Suspend.suspend block;
      go ()
    end
  in
  let loop = make "loop" go in
  if asleep then run loop;
  let process = function
    | Loop -> fun () -> run loop
    | Post messages -> fun () -> List.iter (Inbox.post inbox) messages
    | Ring -> fun () -> Inbox.ring inbox
    | Further message ->
        fun () ->
          Atomic.set further [ message ];
          Inbox.ring inbox
  in
  let outcome () =
    if loop.result != waiting then failwith "the loop ended";
    if not (Inbox.is_empty inbox) then failwith "the loop sleeps, and has mail";
    if Atomic.get further <> [] then failwith "the further queue was forgotten";
    if !slept <> !rung + 1 then failwith "rung, and not asleep, or not rung";
    String.concat "" (List.rev !served)
  in
  (List.map process processes, outcome)

let () =
  check "the loop starts" [ Loop; Post [ "a"; "b" ] ] [ "ab" ];
  check "the loop sleeps" ~asleep:true
    [ Post [ "a"; "b" ]; Post [ "c" ] ]
    [ "abc"; "acb"; "cab" ];
  check "the loop starts, two post"
    [ Loop; Post [ "a" ]; Post [ "b" ] ]
    [ "ab"; "ba" ];
  check "the loop sleeps, and is rung" ~asleep:true [ Ring; Post [ "a" ] ]
    [ "a" ];
  check "the loop starts, and is rung" [ Loop; Ring; Post [ "a" ] ] [ "a" ];
  check "a further queue" [ Loop; Further "a"; Post [ "b" ] ] [ "ab"; "ba" ];
  check "a further queue, asleep" ~asleep:true
    [ Further "a"; Post [ "b" ] ]
    [ "ab"; "ba" ];
  Model.finish ()
