package storetest

import "testing"

func historyModel(t *testing.T, w *historyWorld) {}
