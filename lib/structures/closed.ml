exception Closed

let outcome = Error Closed
let () = Labels.tell Closed ~otherwise:"Concord.Closed"
let by structure = Labels.raises Closed structure
