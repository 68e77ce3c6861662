"""Spark in a process of its own: reads a question a line (JSON), writes its rows a line (JSON). It reads the topic
clicks through Spark's Kafka source for every question. spark_source.py BOOTSTRAP SCRATCH THREADS COLUMNS"""
import decimal
import json
import sys

from pyspark.sql import SparkSession

bootstrap, scratch, threads, columns = sys.argv[1:]
spark = (SparkSession.builder.appName("bench").master(f"local[{threads}]")
         .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
         .config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", threads)
         .config("spark.sql.session.timeZone", "UTC")
         .config("spark.sql.warehouse.dir", f"{scratch}/warehouse").config("spark.local.dir", f"{scratch}/local").getOrCreate())
(spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", "clicks").option("startingOffsets", "earliest").load()
 .selectExpr(f"from_json(CAST(value AS STRING), '{columns}') AS event").select("event.*").createOrReplaceTempView("clicks"))
for line in sys.stdin:
    rows = spark.sql(json.loads(line)).collect()
    print(json.dumps([[float(v) if isinstance(v, decimal.Decimal) else v for v in r] for r in rows]), flush=True)
