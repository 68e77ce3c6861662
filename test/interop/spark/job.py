"""job.py MODE BOOTSTRAP DIR [ARGS]: what people do with Spark Structured Streaming, each run a process of its own.

copy FROM TO [OPTION=VALUE ...]  upper-cases until everything that is there was copied
since FROM MILLIS                prints the values from a time on
table FROM FORMAT                prints a topic's rows as JSON, by from_json or from_csv
"""
import json
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, from_csv, from_json, upper

mode, bootstrap, directory, args = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")


def batch(topic, **options):
    r = spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    for k, v in options.items():
        r = r.option(k, v)
    return r.load()


if mode == "copy":
    source, to, overrides = args[0], args[1], dict(x.split("=", 1) for x in args[2:])
    stream = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
              .option("subscribe", source).option("startingOffsets", "earliest").load())
    out = (stream.select(col("key"), upper(col("value").cast("string")).alias("value")).writeStream.format("kafka")
           .option("kafka.bootstrap.servers", bootstrap).option("topic", to)
           .option("checkpointLocation", f"{directory}/{to}").trigger(availableNow=True))
    for k, v in overrides.items():
        out = out.option(k, v)
    out.start().awaitTermination()
elif mode == "since":
    topic, millis = args
    at = json.dumps({topic: {str(p): int(millis) for p in range(3)}})
    rows = batch(topic, startingOffsetsByTimestamp=at, startingOffsetsByTimestampStrategy="latest").select(col("value").cast("string")).collect()
    print(json.dumps(sorted(r[0] for r in rows)))
elif mode == "table":
    topic, kind = args
    schema = "id BIGINT, name STRING, amount DOUBLE, ok BOOLEAN"
    parse = from_json if kind == "json" else from_csv
    rows = batch(topic).select(parse(col("value").cast("string"), schema).alias("r")).select("r.*").orderBy("id").collect()
    print(json.dumps([list(r) for r in rows]))
spark.stop()
