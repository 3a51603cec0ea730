(* The decision of the hosts' kit, for a wait that two processes resume and one cancels. Its
   [block] registers, answers, does both, or raises. *)

exception Refused

type block = Registers | Answers | Raises | Both
type process = Wait of block | Resume of int | Cancel

(* The modelled host makes a task ready by setting its result. However the wait was decided,
   [turns] must be one at the end. *)
let check name processes expect =
  Model.check name ~expect @@ fun () ->
  let decision = Decision.create () in
  let turns = ref 0 and result = ref "waits" and told = ref [] in
  let cell = Atomic.make None in
  let ready outcome =
    incr turns;
    result :=
      match outcome with
      | Ok v -> string_of_int v
      | Error Model.Cancelled -> "cancelled"
      | Error _ -> "raised"
  in
  let resumer outcome =
    Decision.decide decision outcome
    && begin
      ready outcome;
      true
    end
  in
  let block kind resumer =
    match kind with
    | Registers ->
        Atomic.set cell (Some resumer);
        None
    | Answers -> Some 0
    | Raises -> raise Refused
    | Both ->
        Atomic.set cell (Some resumer);
        Some 0
  in
  let process = function
    | Wait kind ->
        fun () ->
          let now = Decision.offer decision resumer (block kind) in
          if not (Decision.is_undecided now) then ready now
    | Resume v ->
        fun () ->
          Option.iter
            (fun resumer -> if resumer (Ok v) then told := v :: !told)
            (Atomic.exchange cell None)
    | Cancel ->
        fun () ->
          let cancelled = Error Model.Cancelled in
          if Decision.decide decision cancelled then ready cancelled
  in
  let outcome () =
    if !turns > 1 then failwith "two turns";
    List.iter
      (fun v ->
        if !result <> string_of_int v then
          failwith "the resumer answered true, but the value was lost")
      !told;
    if !turns = 0 && not (Decision.is_undecided (Decision.outcome decision))
    then failwith "decided, but the task was not made ready";
    !result
  in
  (List.map process processes, outcome)

let () =
  check "resume, cancel"
    [ Wait Registers; Resume 1; Cancel ]
    [ "1"; "cancelled" ];
  check "two resume"
    [ Wait Registers; Resume 1; Resume 2 ]
    [ "1"; "2"; "waits" ];
  check "block answers, cancel" [ Wait Answers; Cancel ] [ "0"; "cancelled" ];
  check "block raises, cancel" [ Wait Raises; Cancel ] [ "raised"; "cancelled" ];
  check "block registers and answers" [ Wait Both; Resume 1 ] [ "0"; "1" ];
  Model.finish ()
