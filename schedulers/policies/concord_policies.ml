module Policy = Policy

exception Cancelled = Scheduler.Cancelled

module type S = Scheduler.S

module Make = Scheduler.Make
module Fifo = Make (Policy.Fifo)
module Lifo = Make (Policy.Lifo)
module Levels = Make (Policy.Levels)
module Deadline = Make (Policy.Deadline)
