open Description

module Make (From : sig
  val permits : int
end) =
struct
  type state = int (* the free permits *)
  type operation = Acquire of int | Release of int | Get_value

  let name = Printf.sprintf "Semaphore.Counting of %d" From.permits
  let initial = From.permits

  let operations _ =
    [
      Acquire 1;
      Acquire 1;
      Acquire 2;
      Acquire 0;
      Release 1;
      Release 2;
      Get_value;
    ]

  let line = function Acquire _ -> Some 0 | Release _ | Get_value -> None

  let perform ~waiting:_ free = function
    | Acquire n when n <= free -> Returns (free - n, "()")
    | Acquire _ -> Waits
    | Release n when free > max_int - n -> Returns (free, "overflow")
    | Release n -> Returns (free + n, "()")
    | Get_value -> Returns (free, string_of_int free)

  let if_cancelled _ = Leaves

  (* A release serves one task after the other, and the value can be seen in
     between. *)
  let beside = function
    | Acquire _ | Release _ -> Exact
    | Get_value -> Exact_alone

  let show = function
    | Acquire n -> Printf.sprintf "acquire_n %d" n
    | Release n -> Printf.sprintf "release_n %d" n
    | Get_value -> "get_value"

  let looks = [ Get_value; Acquire 1 ]
end
