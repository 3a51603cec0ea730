open Description

module Make (Of : sig
  val parties : int
end) =
struct
  type state = unit
  type operation = Await

  let name = Printf.sprintf "Barrier of %d" Of.parties
  let initial = ()
  let operations _ = [ Await ]
  let line Await = Some 0
  let passes = Returns ((), "()")

  (* The second of two asks the first. In a larger group, cancelled tasks
     count. *)
  let perform ~waiting () Await =
    if Of.parties = 2 then
      let accepted Await = passes in
      Wakes_one { line = 0; result = "()"; accepted; nobody = Waits }
    else if List.length waiting >= Of.parties - 1 then
      Wakes_all { lines = [ 0 ]; result = "()"; next = passes }
    else Waits

  let if_cancelled _ = Leaves
  let beside Await = Exact
  let show Await = "await"
  let looks = [ Await ]
end
