open Concord
module Transactions = Set.Make (String)

type t = {
  difficulty : int;
  lock : Rwlock.t;  (** Protects all fields below. *)
  blocks : (string, Block.t) Hashtbl.t;  (** All blocks, by hash. *)
  main : (int, Block.t) Hashtbl.t;  (** The main chain, by height. *)
  index : (string, Block.t) Hashtbl.t;  (** By confirmed transaction. *)
  head : Block.t Watch.t;
      (** Set by writers. It can be read without the lock. *)
  pending : Transactions.t Watch.t;
      (** Set by writers. It can be read without the lock. *)
}

let create ~difficulty =
  let genesis = Block.genesis in
  {
    difficulty;
    lock = Rwlock.create ~name:"the chain" ();
    blocks = Hashtbl.of_seq (Seq.return (genesis.hash, genesis));
    main = Hashtbl.of_seq (Seq.return (0, genesis));
    index = Hashtbl.create 100;
    head = Watch.create genesis;
    pending = Watch.create Transactions.empty;
  }

let difficulty t = t.difficulty
let head t = t.head
let pending t = t.pending

(* --- Functions that need the lock --- *)

let parent t (block : Block.t) = Hashtbl.find t.blocks block.parent

let is_main t (block : Block.t) =
  match Hashtbl.find_opt t.main block.height with
  | Some main -> String.equal main.hash block.hash
  | None -> false

(* Whether the chain that ends with [block] contains the transaction. *)
let rec is_before t (block : Block.t) transaction =
  if is_main t block then
    match Hashtbl.find_opt t.index transaction with
    | Some { height; _ } -> height <= block.height
    | None -> false
  else
    List.mem transaction block.transactions
    || is_before t (parent t block) transaction

(* Both functions take the pending transactions, and return the new ones. *)

let abandon t pending (block : Block.t) =
  Hashtbl.remove t.main block.height;
  List.iter (Hashtbl.remove t.index) block.transactions;
  Transactions.add_seq (List.to_seq block.transactions) pending

let confirm t pending (block : Block.t) =
  Hashtbl.replace t.main block.height block;
  List.iter (fun text -> Hashtbl.replace t.index text block) block.transactions;
  Transactions.diff pending (Transactions.of_list block.transactions)

(* Makes [block] the head. The old and the new main chain separate after their last common
   block. *)
let switch_to t (block : Block.t) =
  let rec branch_of block after =
    if is_main t block then (block, after)
    else branch_of (parent t block) (block :: after)
  in
  let (common : Block.t), branch = branch_of block [] in
  let rec abandon_to_common pending height =
    if height = common.height then pending
    else
      let pending = abandon t pending (Hashtbl.find t.main height) in
      abandon_to_common pending (height - 1)
  in
  let pending =
    abandon_to_common (Watch.get t.pending) (Watch.get t.head).height
  in
  Watch.set t.pending (List.fold_left (confirm t) pending branch);
  Watch.set t.head block

(* Transactions that are pending or confirmed already are left as they are. *)
let make_pending t transactions =
  let pending = Watch.get t.pending in
  let is_new text =
    not (Hashtbl.mem t.index text || Transactions.mem text pending)
  in
  match List.filter is_new transactions with
  | [] -> ()
  | fresh ->
      Watch.set t.pending (Transactions.add_seq (List.to_seq fresh) pending)

let is_better (a : Block.t) ~than:(b : Block.t) =
  a.height > b.height || (a.height = b.height && a.hash < b.hash)

(* --- Changing it --- *)

let submit t transaction =
  Block.check_transaction transaction;
  Rwlock.write t.lock @@ fun () -> make_pending t [ transaction ]

type added = Added | Known | Orphan

let add t (block : Block.t) =
  Rwlock.write t.lock @@ fun () ->
  if Hashtbl.mem t.blocks block.hash then Known
  else
    match Hashtbl.find_opt t.blocks block.parent with
    | None -> Orphan
    | Some parent ->
        if block.height <> parent.height + 1 then
          raise (Block.Invalid "a block's height is not its parent's plus 1");
        if List.exists (is_before t parent) block.transactions then
          raise (Block.Invalid "a chain has the same transaction twice");
        Hashtbl.add t.blocks block.hash block;
        if is_better block ~than:(Watch.get t.head) then switch_to t block
        else make_pending t block.transactions;
        Added

(* --- Following it --- *)

type work = {
  parent : Block.t;
  transactions : string list;
  stale : unit Event.t;
  more : unit Event.t;
}

let work t =
  Rwlock.read t.lock @@ fun () ->
  let parent, head_seen = Watch.read t.head in
  let pending, pending_seen = Watch.read t.pending in
  {
    parent;
    transactions =
      Transactions.to_seq pending
      |> Seq.take Block.max_transactions
      |> List.of_seq;
    stale = Event.wrap (Watch.changed_evt t.head ~since:head_seen) ignore;
    more = Event.wrap (Watch.changed_evt t.pending ~since:pending_seen) ignore;
  }

(* --- Querying it --- *)

let block t hash =
  Rwlock.read t.lock @@ fun () -> Hashtbl.find_opt t.blocks hash

let confirmed t transaction =
  Rwlock.read t.lock @@ fun () -> Hashtbl.find_opt t.index transaction

let matching t is_match =
  let all () =
    Hashtbl.to_seq_keys t.index |> Seq.filter is_match |> List.of_seq
  in
  List.sort String.compare (Rwlock.read t.lock all)
