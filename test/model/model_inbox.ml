(* The queue of wakes, with a loop that works, goes to sleep or sleeps; and the decision
   of H3 that is taken with each post. Nothing that was posted is lost, served twice or
   out of order, and a loop that sleeps was woken once. *)

open Actor

type process =
  | Loop
  | Post of string list
  | Cancel of string  (** The loop's thread takes the decision first. *)

let check name ?(asleep = false) processes expect =
  Model.check name ~expect @@ fun () ->
  let wakes = Inbox.create () in
  let decisions =
    List.map (fun name -> (name, Atomic.make "")) [ "a"; "b"; "c" ]
  in
  let served = ref [] and posted = ref [] in
  let slept = ref 0 and rung = ref 0 in
  let bell : unit Suspend.resumer option ref = ref None in
  let ring () =
    incr rung;
    match !bell with
    | Some resumer ->
        if not (resumer (Ok ())) then failwith "rung twice for one sleep"
    | None -> failwith "rung, but not asleep"
  in
  let post message =
    match
      Inbox.decide_and_post wakes
        (List.assoc message decisions)
        ~before:"" ~after:"posted" message
    with
    | Refused -> ()
    | Posted -> posted := message :: !posted
    | Posted_to_sleeper ->
        posted := message :: !posted;
        ring ()
  in
  let serve message =
    if List.mem message !served then failwith "served twice";
    served := message :: !served
  in
  (* As with Lwt: the bell is one that was there before it falls asleep. *)
  let block resumer =
    bell := Some resumer;
    incr slept;
    if Inbox.fall_asleep wakes then None
    else begin
      decr slept;
      Some ()
    end
  in
  let rec go () =
    while Inbox.serve wakes serve do
      ()
    done;
    Suspend.suspend block;
    Inbox.wake_up wakes;
    go ()
  in
  let loop = make "loop" go in
  if asleep then run loop;
  let process = function
    | Loop -> fun () -> run loop
    | Post messages -> fun () -> List.iter post messages
    | Cancel message ->
        fun () ->
          ignore
            (Atomic.compare_and_set
               (List.assoc message decisions)
               "" "cancelled"
              : bool)
  in
  let outcome () =
    if loop.result != waiting then failwith "the loop ended";
    if not (Inbox.is_empty wakes) then
      failwith "the loop sleeps, and owes a wake";
    if !slept <> !rung + 1 then failwith "rung, and not asleep, or not rung";
    let is_posted (message, decision) =
      let decided = String.equal (Atomic.get decision) "posted" in
      if decided <> List.mem message !served then
        failwith "decided, and not served; or the other way round";
      decided
    in
    if List.length !served <> List.length (List.filter is_posted decisions) then
      failwith "lost";
    if Inbox.served wakes <> List.length !served then failwith "miscounted";
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
  check "the loop sleeps, one is cancelled" ~asleep:true
    [ Post [ "a" ]; Post [ "b" ]; Cancel "a" ]
    [ "ab"; "ba"; "b" ];
  check "two resume the same" [ Loop; Post [ "a" ]; Post [ "a" ] ] [ "a" ];
  Model.finish ()
