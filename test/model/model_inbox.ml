(* The inbox of a loop that works, goes to sleep or sleeps, and the decision (H3) that is made
   with each post. No posted message is lost, served twice or out of order, and a sleeping loop
   is woken exactly once. *)

open Actor

type process =
  | Loop
  | Post of string list
  | Post_alone of string list  (** Posts without a decision. *)
  | Cancel of string  (** The loop's thread makes the decision first. *)

let check name ?(asleep = false) processes expect =
  Model.check name ~expect @@ fun () ->
  let wakes = Inbox.create () in
  let decisions =
    List.map (fun name -> (name, Decision.create ())) [ "a"; "b"; "c" ]
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
  let post ~decide message =
    match
      if not decide then begin
        (* No other process decides it. *)
        ignore (Decision.decide (List.assoc message decisions) (Ok ()) : bool);
        Inbox.post wakes message
      end
      else
        Inbox.decide_and_post wakes
          (List.assoc message decisions)
          (Ok ()) message
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
  (* As with Lwt, the bell exists before the loop falls asleep. *)
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
    | Post messages -> fun () -> List.iter (post ~decide:true) messages
    | Post_alone messages -> fun () -> List.iter (post ~decide:false) messages
    | Cancel message ->
        fun () ->
          ignore
            (Decision.decide
               (List.assoc message decisions)
               (Error Model.Cancelled)
              : bool)
  in
  let outcome () =
    if loop.result != waiting then failwith "the loop ended";
    if not (Inbox.is_empty wakes) then
      failwith "the loop sleeps, but must be woken";
    if !slept <> !rung + 1 then failwith "rung although not asleep, or not rung";
    let is_posted (message, decision) =
      let decided = Result.is_ok (Decision.outcome decision) in
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
  check "the loop sleeps, one posts without a decision" ~asleep:true
    [ Post [ "a" ]; Post_alone [ "b"; "c" ] ]
    [ "abc"; "bac"; "bca" ];
  check "two resume the same" [ Loop; Post [ "a" ]; Post [ "a" ] ] [ "a" ];
  Model.finish ()
