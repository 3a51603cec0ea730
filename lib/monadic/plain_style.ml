module Unnamed = struct
  let name = "a library of promises"
end

module Make (Host : Promises.Host) (S : Promises.Style) = struct
  include S

  (* Marks the exception of the resumer or of [block], to distinguish it from the host's
     cancellation. *)
  exception Told of exn

  let telling block resumer =
    let prepare = function Ok _ as ok -> ok | Error e -> Error (Told e) in
    let resumer outcome =
      Sys.opaque_identity (Decision.insist prepare resumer outcome)
    in
    match block resumer with v -> v | exception e -> raise (Told e)

  let suspend ~protected ~late:_ ~cancelled block go_on =
    S.suspend ~protected (telling block) (function
      | Ok _ as ok -> go_on ok
      | Error (Told e) -> go_on (Error e)
      | Error e -> cancelled e)

  let[@inline never] wait_kept target block go_on =
    let block, ended = Observer.operation ~host:Host.name target block in
    S.suspend ~protected:false block (fun outcome ->
        ended (Result.fold ~ok:(fun _ -> None) ~error:Option.some outcome);
        go_on outcome)

  let wait ~late:_ operation t w result =
    let block resumer =
      Operation.block operation t w (Leaks.guard_operation resumer)
    and go_on = function
      | Ok v -> S.return (result v)
      | Error e ->
          let backtrace = Printexc.get_raw_backtrace () in
          Operation.withdraw operation t w;
          S.fail e backtrace
    in
    if Observer.takes_slow_path () then
      wait_kept (Operation.target operation t) block go_on
    else S.suspend ~protected:false block go_on

  let at_once = ref max_int
  let turn () = None
end
