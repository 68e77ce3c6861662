module millrace/test/bench/stock

go 1.26

require github.com/dolthub/go-mysql-server v0.20.0
