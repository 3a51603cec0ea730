exception Closed
exception Lagged of int
exception Already_filled
exception Being_forced

let closed = Error Closed
let raised_by structure e = Observer.raises e structure
