package db

import (
	"github.com/uptrace/bun"

	"gatehouse/domain/session"
)

type messageRow struct {
	bun.BaseModel `bun:"table:task_session_messages,alias:m"`
	session.Message
}
