include Concord__Fifo

let both = Concord.Tasks.both
let all = Concord.Tasks.all
let first = Concord.Tasks.first
let any = Concord.Tasks.any
let with_timeout = Concord.Tasks.with_timeout
let sleep = Concord.Tasks.sleep
let iter = Concord.Tasks.iter
let map = Concord.Tasks.map
