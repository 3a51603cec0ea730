// The cases, other than channels, with one goroutine on each of two processors, and the cost of a goroutine.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The work while a mutex is locked, and between two locks, see ../bench_mutex.ml.
const (
	whileLocked = 10
	between     = 250
)

type counter struct {
	count int
	// Gives each counter a cache line of its own.
	_ [7]int
}

// These are global, because a local counter would be kept in a register.
var owned [2]*counter

func (c *counter) work(times int) {
	for range times {
		c.count++
	}
}

// both runs side in two goroutines at the same time, with their index and n/2, after some operations to warm up.
func both(n int, side func(i, n int)) float64 {
	var ready, all sync.WaitGroup
	times := make([]float64, 2)
	ready.Add(len(times))
	all.Add(len(times))
	for i := range times {
		go func() {
			side(i, meeting)
			ready.Done()
			ready.Wait()
			start := time.Now()
			side(i, n/len(times))
			times[i] = since(start)
			all.Done()
		}()
	}
	all.Wait()
	return max(times[0], times[1])
}

func mutexParallel(n int) float64 {
	var mutex sync.Mutex
	shared := new(counter)
	ns := both(n, func(i, n int) {
		own := new(counter)
		owned[i] = own
		for range n {
			mutex.Lock()
			shared.work(whileLocked)
			mutex.Unlock()
			own.work(between)
		}
	})
	check("work while locked", whileLocked*2*(meeting+n/2), shared.count)
	return ns
}

func readParallel(n int) float64 {
	var lock sync.RWMutex
	return both(n, func(_, n int) {
		for range n {
			lock.RLock()
			lock.RUnlock()
		}
	})
}

func countParallel(n int) float64 {
	var group sync.WaitGroup
	group.Add(1)
	return both(n, func(_, n int) {
		for range n {
			group.Add(1)
			group.Done()
		}
	})
}

func barrierParallel(n int) float64 {
	const sides = 2
	var mutex sync.Mutex
	condition := sync.NewCond(&mutex)
	missing, round := sides, 0
	return both(n, func(_, n int) {
		for range n {
			mutex.Lock()
			missing--
			if missing == 0 {
				missing = sides
				round++
				condition.Broadcast()
			} else {
				for mine := round; round == mine; {
					condition.Wait()
				}
			}
			mutex.Unlock()
		}
	})
}

type ball struct {
	number int
	answer chan ball
}

func promiseRounds(n int) float64 {
	first := make(chan ball, 1)
	toSend, toReceive := first, first
	send := func(n int) {
		for i := 1; i <= n; i++ {
			answer := make(chan ball, 1)
			toSend <- ball{i, answer}
			toSend = (<-answer).answer
		}
	}
	receive := func(n int) int {
		sum := 0
		for range n {
			b := <-toReceive
			sum += b.number
			toReceive = make(chan ball, 1)
			b.answer <- ball{b.number, toReceive}
		}
		return sum
	}
	return transfer(n, send, receive)
}

type chain struct {
	message int
	next    func() *chain
}

func lazyChain(n int) float64 {
	messages := make(chan int)
	var compute func() *chain
	compute = func() *chain {
		message := <-messages
		return &chain{message, sync.OnceValue(compute)}
	}
	first := sync.OnceValue(compute)
	here, there := first, first
	send := func(n int) {
		for i := 1; i <= n; i++ {
			messages <- i
			there = there().next
		}
	}
	receive := func(n int) int {
		sum := 0
		for range n {
			c := here()
			sum += c.message
			here = c.next
		}
		return sum
	}
	return transfer(n, send, receive)
}

func yields(n int) float64 {
	half := func() {
		for range n / 2 {
			runtime.Gosched()
		}
	}
	ended := make(chan struct{})
	start := time.Now()
	go func() {
		half()
		close(ended)
	}()
	half()
	<-ended
	return since(start)
}

func forkJoin(n int) float64 {
	start := time.Now()
	for range n {
		ended := make(chan struct{})
		go close(ended)
		<-ended
	}
	return since(start)
}

// blocked returns by how many bytes the process grows while n goroutines wait until a channel is closed.
func blocked(n int) float64 {
	gate := make(chan struct{})
	var waiting atomic.Int64
	var all sync.WaitGroup
	all.Add(n)
	before := residentBytes()
	for range n {
		go func() {
			waiting.Add(1)
			<-gate
			all.Done()
		}()
	}
	for int(waiting.Load()) < n {
		runtime.Gosched()
	}
	bytes := residentBytes() - before
	close(gate)
	all.Wait()
	return bytes
}
