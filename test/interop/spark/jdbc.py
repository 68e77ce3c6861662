"""jdbc.py DRIVER PORT: Spark's JDBC source and sink against tables typed and big; prints one line of JSON a check."""
import datetime
import decimal
import json
import sys

from pyspark.sql import SparkSession

driver, port = sys.argv[1:]
url = f"jdbc:{'mariadb' if driver == 'mariadb' else 'mysql'}://127.0.0.1:{port}/kafka"
if driver == "mariadb":  # Spark quotes with " for this driver, whose URLs it does not take for MySQL's
    url += "?sessionVariables=sql_mode='ANSI_QUOTES'"
catalog = "spark.sql.catalog.m"
builder = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
           .config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "2").config("spark.sql.session.timeZone", "UTC")
           .config(catalog, "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog").config(f"{catalog}.url", url)
           .config(f"{catalog}.user", "app").config(f"{catalog}.password", "")
           .config(f"{catalog}.driver", "org.mariadb.jdbc.Driver" if driver == "mariadb" else "com.mysql.cj.jdbc.Driver"))
for push in ("Aggregate", "Limit", "Offset", "TableSample"):
    builder = builder.config(f"{catalog}.pushDown{push}", "true")
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


def read(**options):
    r = spark.read.format("jdbc").option("url", url).option("user", "app").option("password", "")
    for name, value in options.items():
        r = r.option(name, value)
    return r.load()


def say(what, value):
    print(json.dumps([what, value], default=lambda v: v.hex() if isinstance(v, (bytes, bytearray)) else str(v)), flush=True)


typed = read(dbtable="typed")
say("schema", {f.name: f.dataType.simpleString() for f in typed.schema.fields})
say("rows", [list(r) for r in typed.select("id", "big", "ubig", "small", "flag", "price", "ratio", "name", "at", "stamp", "day", "bin", "`user.age`", "doc")
             .orderBy("id").collect()])
parts = read(dbtable="big", partitionColumn="_offset", lowerBound="0", upperBound="5000", numPartitions="4", fetchsize="1000")
say("partitions", parts.select("i").rdd.mapPartitions(lambda rows: [sum(1 for _ in rows)]).collect())
say("partitioned", list(parts.selectExpr("count(*)", "sum(i)", "max(i)").first()))
say("filtered", [r.i for r in read(dbtable="big").where("i > 4990 AND i NOT IN (4995, 4996) AND _partition = 0").select("i").orderBy("i").collect()])
say("query", [list(r) for r in read(query="SELECT i % 5 AS k, COUNT(*) AS n, SUM(i * 1.5) AS s, MAX(_timestamp) IS NULL AS b, CURDATE() AS d FROM big GROUP BY k").orderBy("k")
              .select("k", "n", "s", "b").collect()])
if driver != "mariadb":  # the catalog names tables by schema, which that driver does not know
    say("catalog", sorted(r.tableName for r in spark.sql("SHOW TABLES IN m.kafka").collect()))
    say("aggregate", [list(r) for r in spark.sql("SELECT i % 5 AS k, COUNT(*), SUM(i), MIN(i) FROM m.kafka.big WHERE i >= 100 GROUP BY i % 5 ORDER BY k").collect()])
    say("whole", list(spark.sql("SELECT COUNT(*), SUM(i), MIN(i), MAX(i) FROM m.kafka.big").first()))
    say("top", [r.i for r in spark.sql("SELECT i FROM m.kafka.big ORDER BY i DESC LIMIT 3").collect()])
    say("limit", len(spark.sql("SELECT i FROM m.kafka.big LIMIT 7").collect()))
rows = [(2**60 + i, f"wört {i}" if i % 2 else None, decimal.Decimal(i) / 4, datetime.datetime(2026, 7, 1, 12, 0, i % 60), i % 3 == 0, i / 8) for i in range(500)]
frame = spark.createDataFrame(rows, "id BIGINT, word STRING, price DECIMAL(12,2), at TIMESTAMP, ok BOOLEAN, ratio DOUBLE")
write = frame.write.format("jdbc").option("url", url).option("user", "app").option("password", "").option("dbtable", "written").option("batchsize", "100")
write.mode("append").save()
write.mode("append").save()
say("written", list(read(dbtable="written").selectExpr("count(*)", "count(distinct id)", "count(word)", "sum(price)", "sum(cast(ok AS INT))", "sum(ratio)").first()))
spark.stop()
