(* Helpers for tests of holders, the tasks that a report shows as holding a structure. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let lazily begun leave =
  Lazy.from_fun (fun () ->
      Promise.fill begun ();
      Promise.await leave;
      42)

(* Created before reports are switched on. *)
module Early = struct
  let begun = Promise.create ()
  let leave : unit Promise.t = Promise.create ()
  let lazily = lazily begun leave
end

let () = Debug.keep_waits ()

(* The waits in the structure of this name. *)
let waits_in name =
  List.filter
    (fun (wait : Debug.wait) ->
      List.exists
        (fun (target : Debug.target) -> target.structure = Some name)
        wait.targets)
    (Debug.report ()).waits

let eventually_waits ?(n = 1) name =
  eventually ("a wait in " ^ name) (fun () -> List.length (waits_in name) = n)

let target name =
  match waits_in name with
  | wait :: _ ->
      List.find
        (fun (target : Debug.target) -> target.structure = Some name)
        wait.targets
  | [] -> Alcotest.failf "no task waits in %s" name

let holders name =
  List.map (fun (holder : Debug.holder) -> holder.by.name) (target name).holders

let this_thread () = Printf.sprintf "thread %d" (Thread.id (Thread.self ()))

(* Calls [f ()] in a thread, which waits in the structure of this name while [look] runs.
   Then [release] ends the wait. *)
let while_waiting name f ~release look =
  let thread = Thread.create f () in
  eventually_waits name;
  Fun.protect look ~finally:(fun () ->
      release ();
      Thread.join thread)

(* Returns the result of [f ()] and the text that it wrote to the standard error. *)
let with_stderr f =
  let file = Filename.temp_file "holders" ".txt" in
  let kept = Unix.dup Unix.stderr in
  let out = Unix.openfile file [ O_WRONLY; O_TRUNC ] 0o600 in
  Unix.dup2 out Unix.stderr;
  Unix.close out;
  let restore () =
    Unix.dup2 kept Unix.stderr;
    Unix.close kept
  in
  let result = Fun.protect ~finally:restore f in
  let written = In_channel.with_open_bin file In_channel.input_all in
  Sys.remove file;
  (result, written)
