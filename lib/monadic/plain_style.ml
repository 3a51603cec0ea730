module Make (S : Promises.Style) = struct
  include S

  (* The outcome of the resumer or of [block], as against the host's cancellation. *)
  exception Told of exn

  let telling block resumer =
    let resumer = function
      | Ok _ as ok -> resumer ok
      | Error e -> resumer (Error (Told e))
    in
    match block resumer with v -> v | exception e -> raise (Told e)

  let suspend ~protected ~late:_ ~cancelled block go_on =
    S.suspend ~protected (telling block) (function
      | Ok _ as ok -> go_on ok
      | Error (Told e) -> go_on (Error e)
      | Error e -> cancelled e)

  let wait ~late:_ operation t w result =
    S.suspend ~protected:false
      (fun resumer ->
        Operation.block operation t w (Leaks.guard_operation resumer))
      (function
        | Ok v -> S.return (result v)
        | Error e ->
            let backtrace = Printexc.get_raw_backtrace () in
            Operation.withdraw operation t w;
            S.fail e backtrace)

  let cancel (_ : _ S.t) = ()
  let at_once = ref max_int
  let turn () = None
end
