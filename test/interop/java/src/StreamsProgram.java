import java.time.Duration;
import java.util.*;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;

/** Word count, a windowed count of a stream-table join, a global table and a repartition, with Kafka Streams. Runs until it is killed. */
public class StreamsProgram {
  public static void main(String[] a) throws Exception {
    var p = new Properties();
    p.putAll(Map.of("bootstrap.servers", a[0], "application.id", a[1], "processing.guarantee", a[2], "state.dir", a[3],
        "commit.interval.ms", 100, "repartition.purge.interval.ms", 500, "auto.offset.reset", "earliest",
        "default.key.serde", Serdes.StringSerde.class, "default.value.serde", Serdes.StringSerde.class));
    p.put("statestore.cache.max.bytes", 0);
    var b = new StreamsBuilder();
    KStream<String, String> lines = b.stream("lines");
    lines.flatMapValues(v -> List.of(v.split(" ")))
        .groupBy((k, word) -> word)
        .count(Materialized.as("counts"))
        .toStream().mapValues(n -> Long.toString(n))
        .to("counts-out");

    KTable<String, String> users = b.table("users");
    GlobalKTable<String, String> countries = b.globalTable("countries");
    b.<String, String>stream("clicks")
        .join(users, (click, country) -> country)
        .join(countries, (user, country) -> country, (country, name) -> name)
        .groupBy((user, name) -> name)
        .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1)))
        .count()
        .toStream((w, n) -> w.key() + "@" + w.window().start())
        .mapValues(n -> Long.toString(n))
        .to("clicks-out");

    b.<String, String>table("ages").toStream().mapValues(v -> v == null ? "gone" : v).to("ages-out");

    // Much goes through a repartition topic here, from and to little.
    b.<String, String>stream("sizes").mapValues(n -> "x".repeat(Integer.parseInt(n)))
        .repartition(Repartitioned.as("blobs"))
        .mapValues(blob -> Integer.toString(blob.length()))
        .to("sizes-out");

    var streams = new KafkaStreams(b.build(), p);
    streams.setUncaughtExceptionHandler(e -> {
      e.printStackTrace();
      return org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    });
    streams.setStateListener((now, before) -> System.out.println(now));
    streams.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(10))));
    Thread.currentThread().join();
  }
}
