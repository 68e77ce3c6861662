package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"millrace/test/differential/sqlgen"

	"github.com/twmb/franz-go/pkg/kgo"
)

// placed is a row at its offset.
type placed struct {
	partition int32
	offset    int64
	row       sqlgen.Row
}

// declarations are the columns of a table, as CREATE TABLE has them.
func declarations() string {
	var out []string
	for _, c := range sqlgen.Columns {
		out = append(out, c.Name+" "+c.Type)
	}
	return strings.Join(out, ", ")
}

// topic makes a topic and produces rows to it: in batches of many sizes, some in transactions, of which some are aborted
// and hold other rows; some of the topic is sealed before the rest comes. Returns where the rows lie.
func (d *round) topic(ctx context.Context, name string, partitions int32, rows []sqlgen.Row) ([]placed, error) {
	r := d.rand
	client, err := kgo.NewClient(kgo.SeedBrokers(d.server.KafkaAddr()), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("tx-"+name))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	plain, err := kgo.NewClient(kgo.SeedBrokers(d.server.KafkaAddr()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	if _, err := d.on.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s) PARTITION BY KEY(_key) PARTITIONS %d", name, declarations(), partitions)); err != nil {
		return nil, err
	}
	produce := func(c *kgo.Client, rows []sqlgen.Row) (out []placed, err error) {
		var records []*kgo.Record
		for _, row := range rows {
			records = append(records, &kgo.Record{Topic: name, Partition: r.Int32N(partitions), Value: []byte(row.JSON(r))})
		}
		if err := c.ProduceSync(ctx, records...).FirstErr(); err != nil {
			return nil, err
		}
		for i, record := range records {
			out = append(out, placed{record.Partition, record.Offset, rows[i]})
		}
		return out, nil
	}
	transaction := func(rows []sqlgen.Row, end kgo.TransactionEndTry) ([]placed, error) {
		if err := client.BeginTransaction(); err != nil {
			return nil, err
		}
		out, err := produce(client, rows)
		return out, errors.Join(err, client.EndTransaction(ctx, end))
	}
	var out []placed
	for len(rows) > 0 {
		some := rows[:min(len(rows), 1+r.IntN(40))]
		rows = rows[len(some):]
		var at []placed
		switch r.IntN(8) {
		case 0:
			at, err = transaction(some, kgo.TryCommit)
		case 1:
			if _, err := transaction(sqlgen.Rows(r, 1+r.IntN(5)), kgo.TryAbort); err != nil {
				return nil, err
			}
			at, err = produce(plain, some)
		case 2:
			if at, err = produce(plain, some); err == nil {
				err = d.seal(ctx, name)
			}
		default:
			at, err = produce(plain, some)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, at...)
	}
	return out, nil
}

// table makes a table of rows.
func table(ctx context.Context, db *sql.DB, name string, rows []placed) error {
	if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS "+name); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+name+" (_partition INT NOT NULL, _offset BIGINT NOT NULL, "+declarations()+", PRIMARY KEY (_partition, _offset))"); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("INSERT INTO " + name + " VALUES ")
	for i, p := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,%d", p.partition, p.offset)
		for _, v := range p.row {
			b.WriteString("," + v.SQL)
		}
		b.WriteByte(')')
	}
	_, err := db.ExecContext(ctx, b.String())
	return err
}

// random is the source of a seed's index-th part: the data is part 0, query n is part n+1.
func random(seed uint64, part int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(part))) }
