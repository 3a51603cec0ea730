module Policy = Policy

exception Cancelled = Scheduler.Cancelled

module type S = Scheduler.S

module Make = Scheduler.Make
module Fifo = Make (Policy.Fifo)
module Lifo = Make (Policy.Lifo)
module Levels = Make (Policy.Levels)

module Deadline = struct
  include Make (Policy.Deadline)

  let check name time =
    if Float.is_nan time then
      invalid_arg
        (Printf.sprintf
           "Concord_policies.Deadline.%s: the deadline is not a number (nan)"
           name)

  let run ?priority main =
    Option.iter (check "run") priority;
    run ?priority main

  let with_priority time f =
    check "with_priority" time;
    with_priority time f
end
