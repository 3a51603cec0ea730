open Case

(* In seconds. A scheduler that lost a wake-up would wait forever, so an alarm ends the
   process, and the coordinator reports it. No sample takes this long otherwise. *)
let patience_s = 300

let take_sample row ~crowd ~rate n =
  match row.sample with
  | Time run -> [ warmed_up run n ]
  | Crowd (tasks, run) ->
      Gc.full_major ();
      [ run ~tasks:(min tasks crowd) n ]
  | Counted { run; _ } -> [ run n ]
  | Load { run; _ } -> run ~crowd ~seconds:(1e-3 *. float n) ~rate

let print_answers answers =
  print_endline (String.concat " " (List.map (Printf.sprintf "%h") answers))

let find groups name case impl host =
  try
    List.find
      (fun row -> row.case = case && row.impl = impl && row.host = host)
      (List.assoc name groups)
  with Not_found ->
    Printf.eprintf "there is no row %s %s %s@%s\n" name case impl host;
    exit 1

(* The domain sleeps in a blocking section, like any domain that has nothing to do, so the
   collector does not wait for it. *)
let spawn_idle_domain () =
  let sleep () =
    let mutex = Mutex.create () and never = Condition.create () in
    Mutex.lock mutex;
    while true do
      Condition.wait never mutex
    done
  in
  ignore (Domain.spawn sleep : unit Domain.t)

let serve_rows groups =
  let case = Sys.argv.(2) in
  let row =
    find groups Sys.argv.(1) (Case.plain case) Sys.argv.(3) Sys.argv.(4)
  in
  if Case.is_beside case then spawn_idle_domain ();
  let rec loop () =
    match In_channel.input_line stdin with
    | None -> ()
    | Some request ->
        ignore (Unix.alarm patience_s : int);
        Scanf.sscanf request "%d %d %s" (fun n crowd rate ->
            let rate = float_of_string rate in
            print_answers (take_sample row ~crowd ~rate n));
        ignore (Unix.alarm 0 : int);
        loop ()
  in
  loop ()

let serve groups =
  let rows group = (group.name, List.concat_map rows group.comparisons) in
  serve_rows (List.map rows groups)

exception No_result of { row : row; reason : string }

type t = {
  row : row;
  name : string;
  pid : int;
  requests : out_channel;
  answers : in_channel;
}

let path program =
  let name =
    match program with
    | Linked -> "linked.exe"
    | Unlinked -> "unlinked.exe"
    | Bytecode -> "linked.bc.exe"
    | Go -> "go_rows"
    | Node -> "node_rows"
    | Tokio -> "tokio_rows"
    | Picos -> "picos/serve.exe"
    | Async -> "async/serve.exe"
  in
  Filename.concat (Filename.dirname Sys.executable_name) name

(* If the other language was not installed, the file is empty. *)
let is_there = function
  | Linked | Unlinked | Bytecode -> true
  | Picos -> Visible.picos
  | Async -> Visible.async
  | (Go | Node | Tokio) as program -> (
      match Unix.stat (path program) with
      | { st_size; _ } -> st_size > 0
      | exception Unix.Unix_error (ENOENT, _, _) -> false)

let may_be_real_time () =
  Sys.command "chrt -r 20 true >/dev/null 2>/dev/null" = 0

let start ?(real_time = false) (group : group) row =
  let path = path row.program in
  let case =
    match row.program with
    | Go | Node | Tokio -> Case.plain row.case
    | Linked | Unlinked | Bytecode | Picos | Async -> row.case
  in
  let arguments =
    (if real_time then [| "chrt"; "-r"; "20" |] else [||])
    |> Fun.flip Array.append [| path; group.name; case; row.impl; row.host |]
  in
  (* If a process has ended, a request to it fails with an error, which is handled there. The
     signal would end this process. *)
  Sys.set_signal Sys.sigpipe Sys.Signal_ignore;
  (* Both ends are closed on exec. Otherwise one process would hold another's input open. *)
  let input, requests = Unix.pipe ~cloexec:true () in
  let answers, output = Unix.pipe ~cloexec:true () in
  let pid =
    Unix.create_process arguments.(0) arguments input output Unix.stderr
  in
  Unix.close input;
  Unix.close output;
  {
    row;
    name = Printf.sprintf "%s %s %s@%s" group.name row.case row.impl row.host;
    pid;
    requests = Unix.out_channel_of_descr requests;
    answers = Unix.in_channel_of_descr answers;
  }

let rec wait pid =
  match Unix.waitpid [] pid with
  | _, status -> status
  | exception Unix.Unix_error (EINTR, _, _) -> wait pid

let ask t ~crowd ?(rate = infinity) n =
  (* A process that has ended gives no answer either. *)
  (try Printf.fprintf t.requests "%d %d %h\n%!" n crowd rate
   with Sys_error _ -> ());
  fun () ->
    match In_channel.input_line t.answers with
    | Some line -> List.map float_of_string (String.split_on_char ' ' line)
    | None | (exception Sys_error _) ->
        let reason =
          match wait t.pid with
          | WSIGNALED signal when signal = Sys.sigalrm ->
              Printf.sprintf "no result in %d s" patience_s
          | WEXITED _ | WSIGNALED _ | WSTOPPED _ ->
              "the process ended before its result"
        in
        raise (No_result { row = t.row; reason = t.name ^ ": " ^ reason })

let sample t ~crowd n = ask t ~crowd n ()

(* --- Samples that had to wait for a core ------------------------------------- *)

type time = { ran : float; delayed : float }

(* The sum of all threads, or [None] if the system doesn't say it. See the kernel's
   sched-stats.rst. *)
let time_of t =
  let tasks = Printf.sprintf "/proc/%d/task" t.pid in
  let add sum task =
    let file = Filename.concat (Filename.concat tasks task) "schedstat" in
    match In_channel.with_open_text file In_channel.input_all with
    | text ->
        Scanf.sscanf text "%f %f" (fun ran delayed ->
            { ran = sum.ran +. ran; delayed = sum.delayed +. delayed })
    | exception Sys_error _ -> (* the thread has ended *) sum
  in
  match Sys.readdir tasks with
  | tasks -> Some (Array.fold_left add { ran = 0.; delayed = 0. } tasks)
  | exception Sys_error _ -> None

let most_delayed = 0.02

(* In each second, Linux keeps 50 ms of each core from programs of real-time priority (unless it was
   told otherwise, see sched-rt-group.rst). So a sample of seconds is always delayed by that much. *)
let period_ns = 1e9
let kept_back_ns = 50e6

let was_delayed before after =
  match (before, after) with
  | Some before, Some after ->
      let delayed = after.delayed -. before.delayed in
      let total = delayed +. after.ran -. before.ran in
      delayed
      > (most_delayed *. total)
        +. (kept_back_ns *. Float.floor (total /. period_ns))
  | None, _ | _, None -> false

let most_dropped = 3
let taken = ref 0
let dropped = ref 0
let drops () = (!dropped, !taken)

let undelayed_sample () =
  let is_crowded = ref false in
  fun t ~crowd n ->
    let rec take tries =
      incr taken;
      let before = time_of t in
      let answers = sample t ~crowd n in
      if !is_crowded || not (was_delayed before (time_of t)) then answers
      else if tries = 0 then begin
        is_crowded := true;
        answers
      end
      else begin
        incr dropped;
        take (tries - 1)
      end
    in
    take most_dropped

(* If the process gave no result, it has been waited for already. *)
let stop t =
  close_out_noerr t.requests;
  close_in_noerr t.answers;
  try ignore (wait t.pid : Unix.process_status)
  with Unix.Unix_error (ECHILD, _, _) -> ()
