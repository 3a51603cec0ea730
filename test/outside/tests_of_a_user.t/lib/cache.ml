type 'a t = 'a Concord.Lazy.t

let create f = Concord.Lazy.from_fun f
let get = Concord.Lazy.force
