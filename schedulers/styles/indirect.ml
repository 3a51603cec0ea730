open Concord
open Concord.Tools
module Decision = Host_kit.Decision
module Leaks = Concord.Private.Leaks
module Operation = Concord.Private.Operation

module Make (Style : sig
  type data

  val style : data Group.style
end) =
struct
  open Style

  module Host = struct
    let name = "Concord_styles." ^ Group.name style
  end

  (* Here, a promise is a function that takes the rest of the thread, and calls it with the
     outcome. *)
  module Operations =
    Monadic.Make_plain_named
      (Host)
      (struct
        type 'a t = (('a, exn * Printexc.raw_backtrace) result -> unit) -> unit

        let return v k = k (Ok v)
        let fail e backtrace k = k (Error (e, backtrace))

        let try_bind f return fail k =
          match f () with
          | t -> t (function Ok v -> return v k | Error (e, _) -> fail e k)
          | exception e -> fail e k

        let bind t f k =
          t (function Ok v -> f v k | Error _ as error -> k error)

        let enter () = ignore (Group.running style : data Group.t)
        let isolate f = f ()
        let host () = Group.host_of_caller style

        let suspend ~protected block go_on k =
          Group.wait (Group.running style) ~protected block (fun outcome ->
              go_on outcome k)
      end)

  let next k = function
    | Ok v -> k v
    | Error (Group.Ended, _) -> ()
    | Error (e, backtrace) -> Printexc.raise_with_backtrace e backtrace

  let[@inline never] wait_kept target block go_on =
    let block, ended =
      Concord.Private.Observer.operation ~host:Host.name target block
    in
    Group.wait (Group.running style) ~protected:false block (fun outcome ->
        ended (Result.fold ~ok:(fun _ -> None) ~error:Option.some outcome);
        go_on outcome)

  (* The same as [Operations.sync], for an event of one operation that was already tried without
     success. It needs neither a promise nor a stack. *)
  let wait event k =
    match Event.simple event with
    | Some (Simple { operation; structure; arg; result }) ->
        let waiter = Structure_kit.Waiter.make arg in
        let block resumer =
          Structure_kit.block operation structure waiter
            (Leaks.guard_operation resumer)
        and go_on = function
          | Ok v -> k (result v)
          | Error e ->
              let backtrace = Printexc.get_raw_backtrace () in
              Structure_kit.withdraw operation structure waiter;
              next k (Error (e, backtrace))
        in
        if Concord.Private.Observer.takes_slow_path () then
          wait_kept (Operation.target operation structure) block go_on
        else Group.wait (Group.running style) ~protected:false block go_on
    | Some (Then _) | None -> Operations.sync event (next k)

  let put_mvar m v k =
    if Mvar.try_put m v then k () else wait (Mvar.put_evt m v) k

  let take_mvar m k =
    match Mvar.try_take m with
    | Some v -> k v
    | None -> wait (Mvar.take_evt m) k

  let take_fifo q k =
    match Mailbox.try_take q with
    | Some v -> k v
    | None -> wait (Mailbox.take_evt q) k

  let sync event k = Operations.sync event (next k)
  let direct f k = Operations.direct f (next k)

  let refuse () =
    let message =
      Printf.sprintf
        "Concord_styles.%s: a thread of this style called an operation in \
         direct style that must wait. Use an operation of the style \
         (take_mvar, sync), or make the call in direct"
        (Group.name style)
    in
    Host_kit.refuse (Invalid_argument message)

  let refuse_to_wait block =
    let decision = Decision.create () in
    let offered = Decision.offer decision (Decision.decide decision) block in
    if
      Decision.is_undecided offered
      && Decision.decide decision (Error Group.Ended)
    then refuse ()
    else match Decision.outcome decision with Ok () -> () | Error e -> raise e

  (* [Domain_local_await] may still ask a loop that has ended, because a signal handler raised
     just as it forgot the loop. The caller is then no thread of this style. *)
  let outside block =
    if Option.is_some (Group.host_of_caller style) then refuse_to_wait block
    else Host_kit.suspend_thread block

  let start run = Loop.start style ~outside run
end
