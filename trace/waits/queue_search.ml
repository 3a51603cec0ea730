module Table = Hashtbl.Make (Int)

(* [found] has the blocks that were found, and the resumers of live waiters among them. A structure
   may have a waiter of its own for the task, with the same resumer. [budget] is the number of
   blocks that are still looked at. Each waiter that is found adds to it, so that long queues are
   searched to their end, but a million items of the program are not. *)
type search = {
  found : unit Table.t;
  queue : int Queue.t;
  mutable budget : int;
}

type t = { heap : Heap.t; layout : Layout.t; searches : search Table.t }

let create heap layout = { heap; layout; searches = Table.create 100 }
let first_budget = 20_000
let budget_of_waiter = 100
let most_fields = 256
let resumer { heap; layout; _ } w = Heap.field heap w layout.waiter_resumer

let is_atomic heap v =
  Heap.is_block heap v && Heap.size heap v >= 1 && Heap.tag heap v = 0

let is_waiter ({ heap; layout; _ } as t) v =
  Heap.is_block heap v
  && Heap.tag heap v = 0
  && Heap.size heap v = 3
  && is_atomic heap (Heap.field heap v layout.waiter_choice)
  && Heap.is_function heap (resumer t v)

let is_live ({ layout; _ } as t) w =
  let resumer = resumer t w in
  resumer <> layout.withdrawn && resumer <> layout.leaving

let search_of t structure =
  match Table.find_opt t.searches structure with
  | Some search -> search
  | None ->
      let search =
        {
          found = Table.create 64;
          queue = Queue.create ();
          budget = first_budget;
        }
      in
      Table.replace search.found structure ();
      Queue.add structure search.queue;
      Table.replace t.searches structure search;
      search

let look_at ({ heap; _ } as t) search block =
  if Heap.is_block heap block && Heap.has_fields heap block then begin
    if is_waiter t block && is_live t block then begin
      Table.replace search.found (resumer t block) ();
      search.budget <- search.budget + budget_of_waiter
    end;
    for i = 0 to Int.min most_fields (Heap.size heap block) - 1 do
      let v = Heap.field heap block i in
      if Heap.is_block heap v && not (Table.mem search.found v) then begin
        Table.replace search.found v ();
        Queue.add v search.queue
      end
    done
  end

let has t ~structure ~waiter =
  let search = search_of t structure and resumer = resumer t waiter in
  let is_found () =
    Table.mem search.found waiter || Table.mem search.found resumer
  in
  let rec continue () =
    is_found ()
    || (not (Queue.is_empty search.queue))
       && search.budget > 0
       && begin
         search.budget <- search.budget - 1;
         look_at t search (Queue.take search.queue);
         continue ()
       end
  in
  continue ()
