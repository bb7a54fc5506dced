// Package process runs the built program for the suites of test: real processes,
// real databases, HTTP over the loopback interface.
//
// A suite's TestMain calls [Main]. The program is built by the first test that
// starts a server, once per test binary, and with the race detector where the test
// binary has it. A race that a server finds makes its exit status 66, which
// [Server.Stop] reports.
package process
