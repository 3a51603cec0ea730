type 'a t = 'a Bindings.key

let create = Locals.create
let get = Locals.get

type snapshot = Bindings.t

let snapshot = Locals.snapshot
let with_snapshot = Locals.with_snapshot

let with_binding t v f =
  Locals.with_snapshot (Bindings.add t v (Locals.snapshot ())) f

let without_binding t f =
  Locals.with_snapshot (Bindings.remove t (Locals.snapshot ())) f
