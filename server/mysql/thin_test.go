package mysql

import (
	"millrace/catalog"
	"millrace/store"
	"testing"
)

func newCatalog(st *store.Store) *catalog.Catalog { return catalog.New(st, catalog.Options{}) }

func TestThin(t *testing.T) {
	in := start(t, nil)
	db := in.open("root", "", "")
	for _, q := range []string{"SELECT 1", "SHOW DATABASES", "SELECT VERSION(), @@version, DATABASE(), CONNECTION_ID()", "SELECT 1+1 AS x", "SELECT @@max_execution_time", "SHOW PROCESSLIST", "SHOW VARIABLES LIKE 'version%'", "SELECT SUM(x), AVG(x) FROM (SELECT 9007199254740993 x UNION ALL SELECT 9007199254740992) t"} {
		r, err := table(t, db, q)
		t.Log(q, r, err)
	}
}
