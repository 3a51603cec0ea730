(* Tasks of Miou. *)

open Concord_test_support
open Concord_test_hosts

let run f = Concord_miou.run f

(* With this number of further domains. *)
let run_on domains f = Concord_miou.run ~domains f

(* In a task of another domain. *)
let call f =
  let f () =
    Printexc.record_backtrace true;
    f ()
  in
  run_on 1 (fun () -> Miou.await_exn (Miou.call f))

let all fs = List.iter Miou.await_exn (List.map Miou.async fs)

(* Each effect of a task takes its own turn. *)
let settle () =
  for _ = 1 to 50 do
    Miou.yield ()
  done

let eventually what condition =
  Check.eventually ~pause:Miou.yield what condition

(* A cancelled task can perform no effect, and only its parent can cancel a task. So the main
   task cancels, in [pause]. *)
let cancelling ~protects =
  let children = ref [] and to_cancel = Queue.create () in
  let pause () =
    Miou.yield ();
    while not (Queue.is_empty to_cancel) do
      Miou.cancel (Queue.pop to_cancel)
    done
  in
  let over child =
    match Miou.Promise.state child with
    | Running -> Miou.cancel child
    | Exited | Finished -> ignore (Miou.await child : (unit, exn) result)
  in
  let run f =
    Concord_miou.run @@ fun () ->
    children := [];
    Queue.clear to_cancel;
    f ();
    List.iter over !children
  in
  let fork f =
    let child = Miou.async f in
    children := child :: !children;
    settle ();
    fun () -> Queue.push child to_cancel
  in
  let is_cancellation e = e = Miou.Cancelled in
  Cancelling.{ run; fork; pause; is_cancellation; protects }

(* Tasks that [start] starts, in the table of hosts. Only its parent can cancel a task. *)
let host name start =
  let cancel f ~after =
    let child = start f in
    after ();
    Miou.cancel child
  in
  {
    Test_host.name;
    reported = "miou";
    run =
      (fun body ->
        run_on 2 @@ fun () ->
        let all = ref [] in
        let fork f = all := start f :: !all in
        body { fork; pause = Miou.yield };
        List.iter Miou.await_exn !all);
    cancel = Some cancel;
  }

let here = host "Miou" Miou.async
let there = host "Miou, other domains" Miou.call
