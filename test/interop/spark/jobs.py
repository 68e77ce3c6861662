"""Spark in a process of its own: reads one job a line (JSON), writes one answer a line. A line that ends it is the end of input."""
import json
import sys

from pyspark.sql import SparkSession

bootstrap, scratch = sys.argv[1:]
spark = (SparkSession.builder.appName("docs-stream-spark").master("local[2]")
         .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
         .config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "2")
         .config("spark.sql.session.timeZone", "UTC")
         .config("spark.sql.warehouse.dir", f"{scratch}/warehouse").config("spark.local.dir", f"{scratch}/local").getOrCreate())


def kafka(reader, topic, **options):
    reader = reader.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load()


def upper(source, sink, checkpoint, overrides, once):
    """The users' job; it ends when it has nothing more to do. Returns how many rows its batches read."""
    writer = (kafka(spark.readStream, source, startingOffsets="earliest")
              .selectExpr("key", "upper(CAST(value AS STRING)) AS value").writeStream.format("kafka")
              .option("kafka.bootstrap.servers", bootstrap).option("topic", sink).option("checkpointLocation", f"{scratch}/{checkpoint}"))
    for name, value in overrides.items():
        writer = writer.option(name, value)
    if once:
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
    else:
        query = writer.start()
        query.processAllAvailable()
        query.stop()
    return sum(p["numInputRows"] for p in query.recentProgress)


def since(topic, offsets, stream, checkpoint=""):
    """The values from a time on, offsets being what startingOffsetsByTimestamp takes."""
    if not stream:
        rows = kafka(spark.read, topic, startingOffsetsByTimestamp=offsets)
        return sorted(r.v for r in rows.selectExpr("CAST(value AS STRING) v").collect())
    query = (kafka(spark.readStream, topic, startingOffsetsByTimestamp=offsets).selectExpr("CAST(value AS STRING) v")
             .writeStream.format("memory").queryName(checkpoint).option("checkpointLocation", f"{scratch}/{checkpoint}")
             .trigger(availableNow=True).start())
    query.awaitTermination()
    return sorted(r.v for r in spark.table(checkpoint).collect())


def columns(topic, fields):
    """The rows of expressions over a topic's records, in log order."""
    rows = kafka(spark.read, topic, startingOffsets="earliest").selectExpr("*", "CAST(value AS STRING) text")
    return [list(r)[2:] for r in rows.selectExpr("partition", "offset", *fields).orderBy("partition", "offset").collect()]


jobs = {f.__name__: f for f in (upper, since, columns)}
out = sys.stdout
for line in sys.stdin:
    name, args = json.loads(line)
    print(json.dumps(jobs[name](**args), default=str), file=out, flush=True)
spark.stop()
