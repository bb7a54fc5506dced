package storetest

import "sync"

// crowd runs f n times at once.
func crowd(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

// atOnce runs f and g at once.
func atOnce(f, g func() error) (errF, errG error) {
	crowd(2, func(i int) {
		if i == 0 {
			errF = f()
		} else {
			errG = g()
		}
	})
	return errF, errG
}

// contest runs f twice at once, as 0 and 1, and says which of them won: one that did
// not fail, if there is one.
func contest(f func(n int) error) (winner, loser int, errs [2]error) {
	crowd(2, func(n int) { errs[n] = f(n) })
	if errs[0] != nil {
		return 1, 0, errs
	}
	return 0, 1, errs
}
