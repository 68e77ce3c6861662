package mysql

import (
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// tableStatus is SHOW TABLE STATUS over information_schema: the engine's own binds every table.
const tableStatus = "SELECT TABLE_NAME AS `Name`, ENGINE AS `Engine`, VERSION AS `Version`, ROW_FORMAT AS `Row_format`, TABLE_ROWS AS `Rows`, " +
	"AVG_ROW_LENGTH AS `Avg_row_length`, DATA_LENGTH AS `Data_length`, MAX_DATA_LENGTH AS `Max_data_length`, INDEX_LENGTH AS `Index_length`, " +
	"DATA_FREE AS `Data_free`, AUTO_INCREMENT AS `Auto_increment`, CREATE_TIME AS `Create_time`, UPDATE_TIME AS `Update_time`, CHECK_TIME AS `Check_time`, " +
	"TABLE_COLLATION AS `Collation`, CHECKSUM AS `Checksum`, CREATE_OPTIONS AS `Create_options`, TABLE_COMMENT AS `Comment` " +
	"FROM information_schema.TABLES WHERE TABLE_SCHEMA = "

// showTableStatus answers SHOW TABLE STATUS.
func (c *conn) showTableStatus(ctx *sql.Context, s *sqlparser.Show) (*answer, error) {
	db := s.Database
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	if db == "" {
		return nil, sql.ErrNoDatabaseSelected.New()
	}
	d, err := c.s.engine.Analyzer.Catalog.Database(ctx, db)
	if sql.ErrDatabaseNotFound.Is(err) {
		return nil, sqlerr.UnknownDatabase(db)
	}
	if err != nil {
		return nil, err
	}
	text := tableStatus + quotedText(d.Name())
	if f := s.Filter; f != nil {
		switch {
		case f.Like != "":
			text += " AND TABLE_NAME LIKE " + quotedText(f.Like)
		case f.Filter != nil:
			// Its columns are those that are shown.
			text = "SELECT * FROM (" + text + ") AS `TABLES` WHERE " + sqlparser.String(f.Filter)
		}
	}
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return nil, sql.ErrSyntaxError.New(strings.TrimSpace(err.Error()))
	}
	return c.execute(ctx, stmt, text, nil)
}
