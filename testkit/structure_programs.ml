(* Random programs on one scheduler driven by hand. After each step, the structure and its tasks
   must be as described. A program that fails is made shorter, and printed. *)

open Structure_signature
module Hand = Operation_hand
module Way = Structure_ways

module Make (S : STRUCTURE) = struct
  module Run = Description.Run (S)
  module Ways = Way.Make (S)

  type step =
    | Arrive of int * Way.t * S.operation
    | Cancel of int
    | Settle  (** The resumed and cancelled tasks continue. *)

  let show = function
    | Arrive (task, way, operation) ->
        Printf.sprintf "task %d: %s%s" task (Way.name way) (S.show operation)
    | Cancel task -> Printf.sprintf "cancel task %d" task
    | Settle -> "the tasks continue"

  exception Differs of string

  let equal what show expected actual =
    if expected <> actual then
      raise
        (Differs
           (Printf.sprintf "%s: %s, but the description says %s" what
              (show actual) (show expected)))

  type world = {
    t : S.t;
    hand : Hand.t;
    mutable model : Run.t;
    tasks : (int, string Hand.task) Hashtbl.t;
    mutable continued : (int * string) list;
        (** The tasks that waited and continued, last one first. *)
  }

  let text task =
    match Hand.outcome task with
    | Waits -> "waits"
    | Returned result -> result
    | Raised (Hand.Cancelled, _) -> Description.withdrawn
    | Raised (e, _) -> "raises " ^ Printexc.to_string e

  let outcome model task =
    Option.value ~default:"waits" (List.assoc_opt task (Run.served model))

  let arrive w task way operation =
    let tries = Way.tries way in
    w.model <- Run.runs (Run.arrive w.model ~task ~tries operation) task;
    let noted = ref false in
    let run () =
      let result = Ways.perform w.t way operation in
      if !noted then w.continued <- (task, result) :: w.continued;
      result
    in
    let running = Hand.start w.hand run in
    noted := true;
    Hashtbl.replace w.tasks task running;
    equal "this task" Fun.id (outcome w.model task) (text running)

  let cancel w task =
    match Hashtbl.find_opt w.tasks task with
    | None -> ()
    | Some running ->
        let waits = Run.waits w.model task in
        equal "whether it can be cancelled" string_of_bool waits
          (Hand.stop running);
        w.model <- Run.refuse w.model task

  let show_list served =
    String.concat ", "
      (List.rev_map (fun (task, r) -> Printf.sprintf "%d: %s" task r) served)

  let settle w =
    Hand.settle w.hand;
    w.model <- Run.turns w.model;
    Hashtbl.iter
      (fun task running ->
        equal
          (Printf.sprintf "task %d" task)
          Fun.id (outcome w.model task) (text running))
      w.tasks

  (* In the order in which they were resumed. *)
  let check_order w =
    let waited (task, result) =
      List.mem_assoc task w.continued && result <> Description.withdrawn
    in
    equal "the order" show_list
      (List.filter waited (Run.served w.model))
      w.continued

  let step w = function
    | Arrive (task, way, operation) -> arrive w task way operation
    | Cancel task -> cancel w task
    | Settle ->
        settle w;
        check_order w

  let count w =
    equal "the number of waiting tasks" string_of_int (Run.waiting w.model)
      (S.waiters w.t)

  (* All tasks end, and then the state is looked at. *)
  let finish w =
    settle w;
    check_order w;
    Hashtbl.iter
      (fun task _ -> if Run.waits w.model task then cancel w task)
      (Hashtbl.copy w.tasks);
    settle w;
    List.iteri
      (fun i operation ->
        Option.iter
          (fun way -> arrive w (-1 - i) way operation)
          (Ways.at_once operation))
      S.looks

  let world () =
    {
      t = S.create ();
      hand = Hand.create ();
      model = Run.initial;
      tasks = Hashtbl.create 16;
      continued = [];
    }

  (* The fault of a program, with the number of its last step. *)
  let fault program =
    let w = world () in
    let rec go n = function
      | [] -> (
          match finish w with
          | () -> None
          | exception Differs text -> Some (n, "at the end, " ^ text)
          | exception e -> Some (n, Printexc.to_string e))
      | s :: rest -> (
          match
            step w s;
            count w
          with
          | () -> go (n + 1) rest
          | exception Differs text -> Some (n + 1, text)
          | exception e -> Some (n + 1, "raises " ^ Printexc.to_string e))
    in
    go 0 program

  let rec without i = function
    | [] -> []
    | s :: rest -> if i = 0 then rest else s :: without (i - 1) rest

  (* Leaves out each step that the fault doesn't need. *)
  let rec shorter program i =
    if i >= List.length program then program
    else
      let candidate = without i program in
      match fault candidate with
      | Some _ -> shorter candidate i
      | None -> shorter program (i + 1)

  let pick random list =
    List.nth list (Random.State.int random (List.length list))

  (* In some programs most operations wait, in others few. *)
  let program random =
    let length = 2 + Random.State.int random 30 in
    let patience = Random.State.int random 8 in
    let step i =
      match Random.State.int random 12 with
      | 0 | 1 -> Settle
      | (2 | 3 | 4) when i > 0 && patience > 1 ->
          Cancel (Random.State.int random i)
      | _ ->
          let operation = pick random (S.operations i) in
          let ways = Ways.all operation in
          let way =
            if Random.State.int random 8 < patience then pick random ways
            else Way.Calls
          in
          Arrive (i, way, operation)
    in
    List.init length step

  let check random =
    let program = program random in
    match fault program with
    | None -> ()
    | Some (n, _) ->
        let program = shorter (List.filteri (fun i _ -> i < n) program) 0 in
        let _, text = Option.get (fault program) in
        Trial.fail "%s\nafter this program:\n%s" text
          (String.concat "\n" (List.map (fun s -> "  " ^ show s) program))
end
