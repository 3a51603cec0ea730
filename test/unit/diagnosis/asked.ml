(* Programs that install reports on SIGUSR1 themselves. *)

open Concord
open Concord.Tools

let say text =
  print_endline text;
  flush stdout

let until_wait n box =
  while Mvar.waiters box < n do
    Thread.delay 0.001
  done

let frozen () =
  let box = Debug.named "the box" (Mvar.create_empty ()) in
  let threads = List.init 3 (fun _ -> Thread.create Mvar.take box) in
  until_wait 3 box;
  say "ready";
  List.iter Thread.join threads

let twice () =
  Debug.dump_on_signal Sys.sigusr1;
  let before = Concord_test_proc.threads () in
  Debug.dump_on_signal Sys.sigusr1;
  say
    (if Concord_test_proc.threads () = before then "one thread"
     else "two threads");
  frozen ()

let blocks () = List.mem Sys.sigusr1 (Thread.sigmask SIG_BLOCK [])

(* If the thread that exists already got the signal, the signal would end the program. *)
let too_late () =
  let box = Mvar.create_empty () in
  let thread = Thread.create Mvar.take box in
  (* The thread blocks all signals until it runs, so wait until it runs. *)
  until_wait 1 box;
  begin match Debug.dump_on_signal Sys.sigusr1 with
  | () -> say "taken"
  | exception Invalid_argument message -> say message
  end;
  say (if blocks () then "blocked" else "not blocked");
  Mvar.put box ();
  Thread.join (thread : Thread.t);
  (* The program is alone now, but this can be seen only after the system has ended the
     thread. *)
  let rec again tries =
    match Debug.dump_on_signal Sys.sigusr1 with
    | () -> say "taken now"
    | exception Invalid_argument _ when tries > 0 ->
        Thread.delay 0.001;
        again (tries - 1)
  in
  again 10_000

(* These signals don't exist, or a program can't wait for them. *)
let wrong () =
  List.iter
    (fun signal ->
      match Debug.dump_on_signal signal with
      | () -> say "taken"
      | exception Invalid_argument message -> say message)
    [ 0; 1_000; -1_000; Sys.sigkill; Sys.sigstop ]

let () =
  match Sys.argv.(1) with
  | "wrong" -> wrong ()
  | "frozen" ->
      Debug.dump_on_signal Sys.sigusr1;
      frozen ()
  | "twice" -> twice ()
  | "too late" -> too_late ()
  | name -> failwith name
