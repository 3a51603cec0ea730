let () =
  match Sys.argv with
  | [| _; "host" |] -> Moonpool_cases.As_host.run ()
  | _ -> Moonpool_cases.Pools.run ()
