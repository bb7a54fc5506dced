package dbtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/jackc/pgx/v5"

	"gatehouse/db"
)

// Names of what the tests create on a server.
const (
	templatePrefix = "gatehouse_template_"
	testPrefix     = "gatehouse_test_"
)

// postgres is a server with the template of this process's migrations on it.
type postgres struct {
	admin    string // the URL of its maintenance database
	template string
	strategy string       // files are copied fastest where nothing is synced
	user     *flock.Flock // held while this process may use it
}

// theServer is connected to, or started, when the first test asks for it.
var theServer = sync.OnceValues(func() (*postgres, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if admin := os.Getenv("GATEHOUSE_TEST_POSTGRES"); admin != "" {
		return prepare(ctx, &postgres{admin: admin})
	}
	admin, user, err := joinServer()
	if err != nil {
		return nil, err
	}
	return prepare(ctx, &postgres{admin: admin, user: user, strategy: " STRATEGY file_copy"})
})

// PostgresURL is the URL of an empty migrated database that is dropped when the
// test ends.
func PostgresURL(tb testing.TB) string {
	tb.Helper()
	p, err := theServer()
	if err != nil {
		tb.Fatal(err)
	}
	name := testPrefix + strings.ToLower(rand.Text())
	p.run(tb, "CREATE DATABASE "+name+" TEMPLATE "+p.template+p.strategy)
	tb.Cleanup(func() { p.run(tb, "DROP DATABASE "+name+" WITH (FORCE)") })
	return withDatabase(p.admin, name)
}

func (p *postgres) run(tb testing.TB, statement string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, p.admin)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = c.Exec(ctx, statement)
	if err := errors.Join(err, c.Close(ctx)); err != nil {
		tb.Fatal(err)
	}
}

// prepare makes the template on the server, unless another process did.
func prepare(ctx context.Context, p *postgres) (*postgres, error) {
	c, err := pgx.Connect(ctx, p.admin)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	p.template = templatePrefix + migrationHash()
	var version int
	if err := c.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return nil, err
	}
	if version < 150000 {
		p.strategy = "" // there was no other yet
	}
	// Released with the connection.
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(crc32.ChecksumIEEE([]byte(p.template)))); err != nil {
		return nil, err
	}
	var exists bool
	err = c.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", p.template).Scan(&exists)
	if err != nil || exists {
		return p, err
	}
	return p, p.makeTemplate(ctx, c)
}

// makeTemplate migrates a database under another name first: the template is
// whole as soon as it is there.
func (p *postgres) makeTemplate(ctx context.Context, c *pgx.Conn) error {
	draft := p.template + "_draft"
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + draft + " WITH (FORCE)", "CREATE DATABASE " + draft} {
		if _, err := c.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := migrate(ctx, withDatabase(p.admin, draft)); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "ALTER DATABASE "+draft+" RENAME TO "+p.template)
	return err
}

// migrationHash names the schema.
func migrationHash() string {
	hash := sha256.New()
	files := db.PostgresMigrations()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		fmt.Fprintf(hash, "%s %d\n%s", path, len(content), content)
		return err
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

// withDatabase is the URL of another database on the server.
func withDatabase(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic("GATEHOUSE_TEST_POSTGRES is no URL")
	}
	u.Path = "/" + name
	return u.String()
}
