open Description

module Make (Of : sig
  val prefer : [ `Nobody | `Writers ]
end) =
struct
  type state = Readers of int | Writer

  type operation =
    | Read_lock
    | Write_lock
    | Read
    | Write
    | Read_unlock
    | Write_unlock
    | Downgrade
    | End_write  (** The end of [write], which may have downgraded. *)

  let name =
    match Of.prefer with
    | `Nobody -> "Rwlock"
    | `Writers -> "Rwlock, writers first"

  let initial = Readers 0

  let operations _ =
    [
      Read_lock; Read_lock; Write_lock; Write_lock; Read; Write; Read_unlock;
      Write_unlock; Write_unlock; Downgrade;
    ]
  [@@ocamlformat "disable"]

  (* Without a preference, readers and writers are in one line. *)
  let line = function
    | Write_lock | Write -> Some 0
    | Read_lock | Read -> Some (if Of.prefer = `Writers then 1 else 0)
    | Read_unlock | Write_unlock | Downgrade | End_write -> None

  let is_writer operation = operation = Write_lock || operation = Write

  let perform ~waiting state operation =
    match (operation, state) with
    | (Read_lock | Read), Readers _
      when Of.prefer = `Writers && List.exists is_writer waiting ->
        Waits
    | Read_lock, Readers n -> Returns (Readers (n + 1), "()")
    | Write_lock, Readers 0 -> Returns (Writer, "()")
    | Read, Readers n -> Continues (Readers (n + 1), Read_unlock)
    | Write, Readers 0 -> Continues (Writer, End_write)
    | (Read_lock | Write_lock | Read | Write), _ -> Waits
    | (Read_unlock | End_write), Readers n when n > 0 ->
        Returns (Readers (n - 1), "()")
    | (Write_unlock | End_write), Writer -> Returns (Readers 0, "()")
    | Downgrade, Writer -> Returns (Readers 1, "()")
    | (Read_unlock | Write_unlock | Downgrade | End_write), _ ->
        Returns (state, not_permitted)

  let if_cancelled _ = Leaves
  let beside _ = Exact

  let show = function
    | Read_lock -> "read_lock"
    | Write_lock -> "write_lock"
    | Read -> "read"
    | Write -> "write"
    | Read_unlock -> "read_unlock"
    | Write_unlock -> "write_unlock"
    | Downgrade -> "downgrade"
    | End_write -> "end of write"

  let looks = [ Write_unlock; Read_unlock; Write_lock ]
end
