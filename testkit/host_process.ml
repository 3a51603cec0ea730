type t = int

let variable = "CONCORD_TESTKIT"

(* --- In the child ------------------------------------------------------------- *)

type request = { number : int; seed : int; clause : string; out : out_channel }

(* The child writes its results to the standard input, where the parent reads them. Programs
   rarely use their standard input, and no other process inherits this one. *)
let take_stdin () =
  let out = Unix.dup ~cloexec:true Unix.stdin in
  let nothing = Unix.openfile Filename.null [ O_RDONLY; O_CLOEXEC ] 0 in
  Unix.dup2 ~cloexec:false nothing Unix.stdin;
  Unix.close nothing;
  Unix.out_channel_of_descr out

(* The clause that this process was started for, if it was. *)
let request =
  match Sys.getenv_opt variable with
  | None | Some "" -> None
  | Some text ->
      Unix.putenv variable "";
      Scanf.sscanf text "%d %d %s" (fun number seed clause ->
          Some { number; seed; clause; out = take_stdin () })

let not_declared () =
  Trial.fail
    "the process of this clause calls Host.check before it declares this host. \
     Call Host.declare first, for all hosts, always in the same order"

let refuse_in_child () =
  let refuse { out; _ } =
    Trial.perform_and_exit [ Trial.case "Host.check" not_declared ] out
  in
  Option.iter refuse request

(* --- In the program ------------------------------------------------------------ *)

let declared = Atomic.make 0
let is_checked = Atomic.make false

let declare cases =
  let t = Atomic.fetch_and_add declared 1 in
  match request with
  | Some { number; seed; clause; out } when number = t ->
      Trial.perform_and_exit (cases ~seed ~clause) out
  | Some _ | None ->
      if Atomic.get is_checked then
        invalid_arg "Host.declare: call it before Host.check, for all hosts";
      t

let environment text =
  let is_old = String.starts_with ~prefix:(variable ^ "=") in
  let others =
    List.filter (Fun.negate is_old) (Array.to_list (Unix.environment ()))
  in
  Array.of_list ((variable ^ "=" ^ text) :: others)

(* The standard output of the child is the standard error, because the output before its
   [declare] is not part of the program's output. *)
let verdict t ~seed ~seconds ~clause =
  refuse_in_child ();
  Atomic.set is_checked true;
  let input, output = Unix.pipe ~cloexec:true () in
  let request = Printf.sprintf "%d %d %s" t seed clause in
  flush_all ();
  let child =
    Unix.create_process_env Sys.executable_name Sys.argv (environment request)
      output Unix.stderr Unix.stderr
  in
  Unix.close output;
  Trial.end_of ~seconds ~input child
