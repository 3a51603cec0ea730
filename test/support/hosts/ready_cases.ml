(* An operation that need not wait returns, even in a cancelled task, and lets no other task
   run. [all] is the table of these operations, and [always_wait] are the exceptions, each with
   the page that documents it. *)

open Concord
open Concord_test_support
open Check

type case = {
  name : string;
  make : unit -> unit -> unit;
      (** Makes a structure in which the operation need not wait, outside of the
          host. The result performs the operation. *)
}

let case name make = { name; make }

(* --- The operations of the table of structures ------------------------------ *)

let five = 5
let sync_soon event = ignore (Event.sync event : int)

let ways =
  [
    ("", fun (place : _ Operations.place) -> ignore (place.wait five : int));
    (", its event", fun place -> sync_soon ((Option.get place.event) five));
    ( ", a choice",
      fun place ->
        sync_soon (Event.choose [ (Option.get place.event) five; Event.never ])
    );
    ( ", with a timeout",
      fun place ->
        match Event.sync_before 60. ((Option.get place.event) five) with
        | Some _ -> ()
        | None -> Alcotest.fail "it took a minute" );
    ( ", in a loop",
      fun place ->
        Event.loop [ (Option.get place.event) five ] (fun _ -> Some ()) );
  ]

(* [prepare place] makes the operation one that need not wait. *)
let each_way name make prepare finish =
  let has_event = Option.is_some (make ()).Operations.event in
  let cases = if has_event then ways else [ List.hd ways ] in
  List.map
    (fun (way, perform) ->
      case (name ^ way) (fun () ->
          let place = make () in
          prepare place;
          fun () -> finish place (fun () -> perform place)))
    cases

let returns _ f = f ()

let raises_its_end (place : _ Operations.place) f =
  raises "the end" (fst (Option.get place.ends)) f

let after_a_wake (place : _ Operations.place) = ignore (place.wake () : int)
let after_the_end (place : _ Operations.place) = snd (Option.get place.ends) ()

(* A structure that remembers nothing needs a partner, or the operation always waits. *)
let of_operation (operation : int Operations.t) =
  let make () = operation.make 1 in
  let has_end = Option.is_some (make ()).ends in
  (if operation.remembers then each_way operation.name make after_a_wake returns
   else [])
  @
  if has_end then
    each_way (operation.name ^ ", at the end") make after_the_end raises_its_end
  else []

(* --- Operations that need a partner ------------------------------------------ *)

let partner f = ignore (Hand.start f : _ Hand.t)

let meeting name event =
  [
    case name (fun () ->
        let direct, _ = event () in
        direct);
    case (name ^ ", its event") (fun () ->
        let _, event = event () in
        fun () -> Event.sync event);
  ]

let with_partner =
  List.concat
    [
      meeting "Channel.receive" (fun () ->
          let t = Channel.create () in
          partner (fun () -> Channel.send t five);
          ( (fun () -> int "received" five (Channel.receive t)),
            Event.wrap (Channel.receive_evt t) ignore ));
      meeting "Channel.send" (fun () ->
          let t = Channel.create () in
          partner (fun () -> Channel.receive t);
          ((fun () -> Channel.send t five), Channel.send_evt t five));
      meeting "Barrier.await, of two" (fun () ->
          let t = Barrier.create 2 in
          partner (fun () -> Barrier.await t);
          ((fun () -> Barrier.await t), Barrier.await_evt t));
      meeting "Barrier.await, of three" (fun () ->
          let t = Barrier.create 3 in
          partner (fun () -> Barrier.await t);
          partner (fun () -> Barrier.await t);
          ((fun () -> Barrier.await t), Barrier.await_evt t));
      meeting "Barrier.await, alone" (fun () ->
          let t = Barrier.create 1 in
          ((fun () -> Barrier.await t), Barrier.await_evt t));
    ]

(* --- Reading to the end ------------------------------------------------------ *)

let to_the_end =
  let three = List.to_seq [ 1; 2; 3 ] in
  let reading name make =
    case name (fun () ->
        let fold = make () in
        fun () -> int "the sum" 6 (fold ( + ) 0))
  in
  [
    reading "Stream.fold" (fun () ->
        let t = Stream.create 3 in
        Stream.add_seq t three;
        Stream.close t;
        fun f init -> Stream.fold f init t);
    reading "Mailbox.fold" (fun () ->
        let t = Mailbox.create () in
        Seq.iter (Mailbox.add t) three;
        Mailbox.close t;
        fun f init -> Mailbox.fold f init t);
    reading "Work_queue.fold" (fun () ->
        let t = Work_queue.create 3 in
        Work_queue.add_seq t three;
        Work_queue.close t;
        fun f init -> Work_queue.fold f init t);
    reading "Broadcast.fold" (fun () ->
        let t = Broadcast.create () in
        let s = Broadcast.subscribe t in
        Broadcast.send_seq t three;
        Broadcast.close t;
        fun f init -> Broadcast.fold f init s);
  ]

(* --- Events, tasks and schedulers --------------------------------------------- *)

let now name f = case name (fun () -> f)

let events =
  [
    now "Event.always" (fun () -> Event.sync (Event.always ()));
    now "Event.select" (fun () ->
        Event.select [ Event.never; Event.always (); Event.timeout 60. ]);
    now "Event.prefer" (fun () ->
        Event.sync (Event.prefer [ Event.never; Event.always () ]));
    now "Event.unless" (fun () ->
        yes "it stops"
          (Event.sync (Event.unless (Event.always ()) Event.never) = None));
    now "Event.guard" (fun () -> Event.sync (Event.guard Event.always));
    now "Event.wrap_abort" (fun () ->
        let aborted = ref false in
        Event.select
          [
            Event.wrap_abort Event.never (fun () -> aborted := true);
            Event.always ();
          ];
        yes "aborted" !aborted);
    now "Event.wrap_handler" (fun () ->
        Event.sync (Event.wrap_handler (Event.always ()) raise));
    now "Event.poll" (fun () -> yes "none" (Event.poll Event.never = None));
    now "Event.sync_before, too late" (fun () ->
        yes "none" (Event.sync_before 0. Event.never = None));
    now "Event.timeout 0." (fun () -> Event.sync (Event.timeout 0.));
    now "Event.at, past" (fun () -> Event.sync (Event.at 1.));
    now "Tasks.sleep 0." (fun () -> Tasks.sleep 0.);
    now "Tasks.protect" (fun () -> Tasks.protect ignore);
    now "Concord_fifo.run" (fun () -> Concord_fifo.run ignore);
    now "Promise.all" (fun () ->
        let p = Promise.all [ Promise.of_value 1; Promise.of_value 2 ] in
        yes "both" (Promise.await p = [ 1; 2 ]));
  ]

(* A structure of a user, which calls nothing but [wait]. *)
let of_a_user =
  let open Tools.Structure_kit in
  let step () : _ -> _ Step.t = function
    | Some v as s -> Return (s, v)
    | None -> Wait
  in
  let operation =
    {
      default with
      name = "User.wait";
      how =
        By_steps
          {
            word = Fun.id;
            step;
            queue = (fun _ _ s -> s);
            left = Step.finished;
          };
    }
  in
  [
    case "Structure_kit.wait" (fun () ->
        let t = Atomic.make (Some five) in
        fun () -> int "the value" five (wait operation t ()));
  ]

let all =
  List.concat_map of_operation Operations.all
  @ with_partner @ to_the_end @ events @ of_a_user

(* --- Exceptions --------------------------------------------------------------- *)

type exception_ = {
  waits : case;  (** It raises in a cancelled task. *)
  page : string;
  says : string;  (** Words of the page. A blank may be a line break there. *)
}

let always name ~page ~says f =
  { waits = now name (fun () -> ignore (f ())); page; says }

(* The function must not be called, because the caller is cancelled already. *)
let not_called _ = failwith "it was called"

let of_scopes =
  let in_tasks name f =
    always name ~page:"lib/tasks/tasks.mli"
      ~says:
        "All functions under \"Several functions\", \"Lists\" and \"Time\", \
         except {!sleep}, open a {!Scope}, and these rules hold for them: - {b \
         Suspends} until all tasks have ended, even if none of the functions \
         has to wait."
      f
  in
  [
    always "Scope.run" ~page:"lib/tasks/scope.mli"
      ~says:
        "- {b Suspends} until all tasks have ended. It may suspend even if \
         there is no task. If the caller is cancelled already, it raises the \
         host's exception." (fun () -> Scope.run not_called);
    in_tasks "Tasks.both" (fun () -> Tasks.both not_called not_called);
    in_tasks "Tasks.all" (fun () -> Tasks.all [ not_called; not_called ]);
    in_tasks "Tasks.all []" (fun () -> Tasks.all []);
    in_tasks "Tasks.first" (fun () -> Tasks.first not_called not_called);
    in_tasks "Tasks.any" (fun () -> Tasks.any [ not_called ]);
    in_tasks "Tasks.iter" (fun () -> Tasks.iter not_called [ 1; 2 ]);
    in_tasks "Tasks.iter, ~max_tasks" (fun () ->
        Tasks.iter ~max_tasks:1 not_called [ 1; 2 ]);
    in_tasks "Tasks.map" (fun () -> Tasks.map not_called [ 1; 2 ]);
    in_tasks "Tasks.with_timeout" (fun () -> Tasks.with_timeout 60. not_called);
  ]

let yield =
  always "Tasks.yield" ~page:"lib/tasks/tasks.mli"
    ~says:"- {b Suspends} the calling task until it runs again." Tasks.yield

let always_wait =
  (yield :: of_scopes)
  @ [
      always "Bvar.wait" ~page:"lib/structures/bvar.mli"
        ~says:"- {b Suspends}, always." (fun () -> Bvar.wait (Bvar.create ()));
      always "Condition.wait" ~page:"lib/structures/condition.mli"
        ~says:
          "- {b Suspends} until the signal, and then while [mutex] is locked."
        (fun () ->
          let m = Mutex.create () in
          Mutex.protect m (fun () -> Condition.wait (Condition.create ()) m));
      always "Condition.wait_no_mutex" ~page:"lib/structures/condition.mli"
        ~says:"- {b Suspends} until the wake-up." (fun () ->
          Condition.wait_no_mutex (Condition.create ()));
    ]

(* No operation of the table of structures is left out. *)
let none_left_out () =
  let begins_with part name = String.starts_with ~prefix:part name in
  let names =
    List.map (fun case -> case.name) all
    @ List.map (fun { waits; _ } -> waits.name) always_wait
  in
  List.iter
    (fun (operation : int Operations.t) ->
      let name = List.hd (String.split_on_char ',' operation.name) in
      yes operation.name (List.exists (begins_with name) names))
    Operations.all

let rec is_blank_or_equal page i says j =
  let n = String.length page and m = String.length says in
  let rec skip i =
    if i < n && (page.[i] = ' ' || page.[i] = '\n') then skip (i + 1) else i
  in
  j = m
  || i < n
     &&
     if says.[j] = ' ' then
       let after = skip i in
       after > i && is_blank_or_equal page after says (j + 1)
     else page.[i] = says.[j] && is_blank_or_equal page (i + 1) says (j + 1)

(* [root] is the path of the project's root. *)
let documented ~root exceptions () =
  List.iter
    (fun { waits; page; says } ->
      let text = In_channel.with_open_bin (root ^ page) In_channel.input_all in
      let rec found i =
        i < String.length text
        && (is_blank_or_equal text i says 0 || found (i + 1))
      in
      if not (found 0) then
        Alcotest.failf "%s always waits, but %s doesn't say: %s" waits.name page
          says)
    exceptions

(* --- On a host ---------------------------------------------------------------- *)

(* A task of the host that becomes ready just before the operation is performed. On a host whose
   tasks run at any time, there is none. *)
type sibling = { may_run : unit Promise.t; has_run : bool Atomic.t }

let start_sibling (tasks : Test_host.tasks) =
  let may_run = Promise.create () and has_run = Atomic.make false in
  tasks.fork (fun () ->
      Promise.await may_run;
      Atomic.set has_run true);
  { may_run; has_run }

(* What is wrong with the operation. *)
let performed (case, perform) sibling =
  Option.iter (fun s -> Promise.fill s.may_run ()) sibling;
  let another_ran () =
    Option.fold sibling ~none:false ~some:(fun s -> Atomic.get s.has_run)
  in
  List.map
    (fun what -> case.name ^ ": " ^ what)
    (match perform () with
    | () -> if another_ran () then [ "another task ran" ] else []
    | exception e -> [ Printexc.to_string e ])

(* [start task] starts a task of the host that calls [task wait]. This calls [wait ()], and
   performs all operations. *)
let all_performed ~cooperative (tasks : Test_host.tasks) made start =
  let until what condition = eventually ~pause:tasks.pause what condition in
  let siblings =
    List.map
      (fun _ -> if cooperative then Some (start_sibling tasks) else None)
      made
  in
  let each_sibling f = List.for_all (Option.fold ~none:true ~some:f) siblings in
  until "the other tasks wait" (fun () ->
      each_sibling (fun s -> Promise.waiters s.may_run = 1));
  let wrong = Atomic.make None in
  start (fun wait ->
      wait ();
      let all = List.map2 (fun made s -> performed made s) made siblings in
      Atomic.set wrong (Some (List.concat all)));
  until "all have ended" (fun () ->
      Option.is_some (Atomic.get wrong)
      && each_sibling (fun s -> Atomic.get s.has_run));
  Option.get (Atomic.get wrong)

let in_a_task ~cooperative (tasks : Test_host.tasks) made =
  all_performed ~cooperative tasks made (fun task ->
      tasks.fork (fun () -> task ignore))

(* The task is cancelled where it waits, and continues. *)
let in_a_cancelled_task ~cooperative cancel (tasks : Test_host.tasks) made =
  all_performed ~cooperative tasks made @@ fun task ->
  let never : unit Promise.t = Promise.create () in
  let wait () =
    (try Promise.await never with _ -> ());
    if not (Tasks.is_cancelled ()) then failwith "the task isn't cancelled"
  in
  cancel
    (fun () -> task wait)
    ~after:(fun () ->
      eventually ~pause:tasks.pause "the task waits" (fun () ->
          Promise.waiters never = 1))

(* The structures are made outside of the host. Miou takes every effect, even those of tasks that
   are driven by hand in one of its own. *)
let all_on (host : Test_host.t) situation cases =
  let made = List.map (fun case -> (case, case.make ())) cases in
  let wrong = ref [ "the host did not run" ] in
  host.run (fun tasks -> wrong := situation tasks made);
  !wrong

let none_wrong host situation cases () =
  strings "operations that wait" [] (all_on host situation cases)

(* Each of them raises the cancellation, and calls no function of the case. *)
let each_raises host situation exceptions () =
  let raised =
    all_on host situation (List.map (fun { waits; _ } -> waits) exceptions)
  in
  let raised_by { waits; _ } what =
    String.starts_with ~prefix:(waits.name ^ ": ") what
    && not (contains what "it was called")
  in
  strings "operations that don't wait" []
    (List.filter_map
       (fun e ->
         if List.exists (raised_by e) raised then None else Some e.waits.name)
       exceptions)

(* [more] and [more_exceptions] are operations that only some hosts have. [but] are the
   exceptions in which this host may return or call functions, as their pages say. *)
let on ?(cooperative = true) ?(but = []) ?(cases = all) ?(more = [])
    ?(more_exceptions = []) (host : Test_host.t) =
  let cases = cases @ more in
  let exceptions =
    List.filter (fun e -> not (List.memq e but)) always_wait @ more_exceptions
  in
  let cancelled =
    match host.cancel with
    | None -> []
    | Some cancel ->
        let situation = in_a_cancelled_task ~cooperative cancel in
        [
          test "in a cancelled task" (none_wrong host situation cases);
          test "always wait, in a cancelled task"
            (each_raises host situation exceptions);
        ]
  in
  ( host.name ^ ": need not wait",
    test "in a task" (none_wrong host (in_a_task ~cooperative) cases)
    :: cancelled )

(* A host that can cancel its tasks, as a {!Test_host.t}. *)
let of_cancelling name (host : Cancelling.host) =
  let cancel f ~after =
    let has_ended = ref false in
    let finally () = has_ended := true in
    let cancel = host.fork (fun () -> Fun.protect f ~finally) in
    after ();
    cancel ();
    Cancelling.until host "it has ended" (fun () -> !has_ended)
  in
  let tasks =
    {
      Test_host.fork = (fun f -> ignore (host.fork f : unit -> unit));
      pause = host.pause;
    }
  in
  {
    Test_host.name;
    reported = name;
    run = (fun body -> host.run (fun () -> body tasks));
    cancel = Some cancel;
  }
