module Promise = Concord.Promise

(* A callback can't be suspended now, and a task that is cancelled already could not be either.
   ([Concord.Tasks.is_cancelled] tries it.) *)
let cannot_suspend e =
  Concord.Private.Reach.is_refusal e || Concord.Tasks.is_cancelled ()

let attempt promise =
  match Promise.peek promise with
  | Some _ as outcome -> outcome
  | None -> (
      match Concord.Tasks.protect (fun () -> Promise.await_result promise) with
      | outcome -> Some outcome
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          if cannot_suspend e then Promise.peek promise
          else Printexc.raise_with_backtrace e backtrace)

(* The other thread is most often running, and soon done. *)
let turns = 100
let pause = 0.0001

let rec block turn promise =
  match Promise.peek promise with
  | Some outcome -> outcome
  | None ->
      if turn < turns then Thread.yield () else Thread.delay pause;
      block (turn + 1) promise

let await promise =
  match attempt promise with Some outcome -> outcome | None -> block 0 promise
