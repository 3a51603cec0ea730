module Host = struct
  include Rounds

  let name = "Rounds"

  let run f =
    let result = ref None in
    Rounds.run (fun t -> result := Some (f t));
    Option.get !result

  let spawn = fork
  let yield = Concord.Tasks.yield
  let cancel = Some cancel
  let is_cancellation = function Cancelled -> true | _ -> false
  let not_offered = [ ("backtraces", "the decision keeps no backtrace") ]
end

let () = Concord_testkit.Host.main ~seed:1 (module Host)
