The page of a few rows. An MVar in Eio is twice as fast as Eio's stream on one domain; between domains the quartiles of
its ratio are on both sides of the limit, and their distance exceeds the effect; in Fifo it is half as fast. Of two
samples there is no spread:

  $ row() { printf '{"group":"mvar","comparison":%s,"baseline":%s,"title":"a message & <its> cost","case":"%s","impl":"%s","host":"%s","unit":"us","samples":[%s]}' "$@"; }
  $ cat >few.json <<END
  > {"machine":"a <machine>","date":"today","command":"none","effort":"little","left_out":["Go was not installed"],"rows":[
  > $(row 0 true table1-serial eio eio 100,102,104),
  > $(row 0 false table1-serial concord eio 50,51,52),
  > $(row 0 false table1-serial concord fifo 200,204,208),
  > $(row 1 true table1-parallel eio eio 100,100,100),
  > $(row 1 false table1-parallel concord eio 80,99,130),
  > $(row 1 false table1-parallel concord fifo 10,10)]}
  > END
  $ PATH=/nowhere ../../main.exe --from few.json --folder without
  without/index.html
  $ words() { sed 's/<[^>]*>/ /g; s/  */ /g' without/index.html; }
  $ words | grep 'MVar is at most 5 %\|between domains is dearer'
   confirmed On one domain an MVar is at most 5 % slower than Eio&#39;s stream Table 1: one message from a producer to a consumer 
   within the spread Between domains an MVar is at most 5 % slower than Eio&#39;s stream Table 1: one message from a producer to a consumer 
   not confirmed A message between domains is dearer than on one Table 1: one message from a producer to a consumer 
   The paper: The shared MVar is on par with the stream that Eio has for itself. A message between domains is dearer, as they are parked and woken. 
   confirmed On one domain an MVar is at most 5 % slower than Eio&#39;s stream.
   within the spread Between domains an MVar is at most 5 % slower than Eio&#39;s stream.
   not confirmed A message between domains is dearer than on one.
  $ words | grep 'better\|worse' | grep '@'
   concord@eio 51.0 50.5 to 51.5 3 2.00x better [2.00 2.00] 1.51 us 
   concord@fifo 204 202 to 206 3 2.00x worse [2.00 2.00] 
   concord@eio 99.0 89.5 to 114 3 1.01x better [0.89 1.13] ~ 4.15 us 
   concord@fifo 10.0 10.0 to 10.0 2 10.00x better ~ 
  $ words | grep 'concord@eio against'
   table1-serial concord@eio against eio@eio: 2.00 times as good [2.00 2.00] (confirmed) 
   table1-parallel concord@eio against eio@eio: 1.01 times as good [0.89 1.13] (within the spread) 
   table1-serial concord@eio against table1-parallel concord@eio: 1.94 times as good [1.74 2.27] (confirmed) 

What is behind a peer is named, and what is missing:

  $ words | grep 'best peer' -A 4
   group case row median best peer the peer is better by 
   
   mvar table1-serial concord@fifo 204 us eio@eio 2.00x [2.00 2.00] 
   
   Composing concurrency libraries (the paper, section 7; the thesis, chapter 6) 
  $ words | grep -A 1 'left out'
   left out 
   Go was not installed 
  $ words | grep 'Nothing of the group fib'
   Nothing of the group fib was measured. 
  $ words | grep 'generator by effects is faster' | head -n 1
   not measured A generator by effects is faster than one of Node.js Generators of a tree 

The same as text, in which what is not confirmed comes first:

  $ grep 'against the baseline' -A 4 without/results.md
  | case | row | median | quartiles | against the baseline |
  | --- | --- | --- | --- | --- |
  | table1-serial | eio@eio | 102 us | 101 to 103 | baseline |
  | table1-serial | concord@eio | 51.0 us | 50.5 to 51.5 | 2.00x better [2.00 2.00] |
  | table1-serial | concord@fifo | 204 us | 202 to 206 | 2.00x worse [2.00 2.00] |
  $ grep 'best peer' -A 3 without/results.md
  | group | case | row | median | best peer | the peer is better by |
  | --- | --- | --- | --- | --- | --- |
  | mvar | table1-serial | concord@fifo | 204 us | eio@eio | 2.00x [2.00 2.00] |
  
  $ grep '^- \*\*' without/results.md | sed -n '1p;$p'
  - **not confirmed**: A message between domains is dearer than on one. (Table 1: one message from a producer to a consumer)
  - **confirmed**: On one domain an MVar is at most 5 % slower than Eio's stream. (Table 1: one message from a producer to a consumer)

Nothing of a file is taken for HTML, and without gnuplot there are tables:

  $ grep -c '<its\|<machine' without/index.html
  0
  [1]
  $ words | grep -c 'Gnuplot is not installed'
  1
  $ ls without
  index.html
  results.json
  results.md

What part of the requests was answered that were due is known where they are; only the best variant is asked, and not
where more was due than the machine computes:

  $ row() { printf '{"group":"fib","comparison":%s,"baseline":%s,"title":"requests","case":"throughput-%s","impl":"%s","host":"eio","unit":"req/s","samples":[%s],"offered":[%s]}' "$@"; }
  $ verdict() { echo "[$*]" >fib.json; PATH=/nowhere ../../main.exe --from fib.json --folder fib >/dev/null; grep 'slower than calibrated' -A 1 fib/results.md; }
  $ verdict "$(row 0 true load-75 composed 70,71,72 70,71,72), $(row 0 false load-75 mvar 50,51,52 70,71,72), $(row 1 true load-100 composed 50,50,50 90,90,90)"
  - **confirmed**: Up to 75 % of the capacity some variant answers at least 95 % of the requests; if not, the machine was slower than calibrated in the turn (ours, not the paper's claim). (Figures 8 and 9: the Fibonacci server)
  
  $ verdict "$(row 0 true load-75 composed 55,54,53 70,71,72), $(row 0 false load-75 mvar 50,51,52 70,71,72)"
  - **not confirmed**: Up to 75 % of the capacity some variant answers at least 95 % of the requests; if not, the machine was slower than calibrated in the turn (ours, not the paper's claim). (Figures 8 and 9: the Fibonacci server)
    - throughput-load-75 composed@eio answered 0.76 of the requests [0.75 0.77] (not confirmed)
  $ verdict "$(row 0 true load-75 composed 55,70,72 70,71,72)"
  - **within the spread**: Up to 75 % of the capacity some variant answers at least 95 % of the requests; if not, the machine was slower than calibrated in the turn (ours, not the paper's claim). (Figures 8 and 9: the Fibonacci server)
    - throughput-load-75 composed@eio answered 0.99 of the requests [0.89 0.99] (within the spread)
  $ sed 's/<[^>]*>/ /g' fib/index.html | grep 'due per second'
    throughput-load-75 : requests; due per second: 71.0 [70.5 71.5] 
  $ verdict "$(row 0 true load-75 composed 70,71,72 '')"
  - **not measured**: Up to 75 % of the capacity some variant answers at least 95 % of the requests; if not, the machine was slower than calibrated in the turn (ours, not the paper's claim). (Figures 8 and 9: the Fibonacci server)
    - throughput-load-75 composed@eio: what was due is not known (not measured)

The page keeps the raw data, from which the same page is made:

  $ PATH=/nowhere ../../main.exe --from without/results.json --folder again
  again/index.html
  $ diff -r without again
